/** Git's own HTTP backend over a repository, and how much it sent. */
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface GitTraffic {
  requests: number;
  /** Bytes of bodies that were sent. */
  bytes: number;
}

/**
 * Answers one request.
 *
 * @param directory the work tree's parent of `.git`, or a bare repository
 * @param path below the repository, such as `/info/refs`
 */
export function serveGit(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { directory, path, query }: { directory: string; path: string; query: string },
  traffic: GitTraffic,
): Promise<void> {
  traffic.requests++;
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '4',
      GIT_CONFIG_KEY_0: 'uploadpack.allowFilter',
      GIT_CONFIG_VALUE_0: 'true',
      GIT_CONFIG_KEY_1: 'uploadpack.allowAnySHA1InWant',
      GIT_CONFIG_VALUE_1: 'true',
      GIT_CONFIG_KEY_2: 'safe.directory',
      GIT_CONFIG_VALUE_2: '*',
      GIT_CONFIG_KEY_3: 'http.receivepack',
      GIT_CONFIG_VALUE_3: 'true',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      HTTP_GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    let body = chunk;
    if (head) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      writeHead(response, head.subarray(0, end).toString('latin1'));
      body = head.subarray(end + 4);
      head = undefined;
    }
    traffic.bytes += body.length;
    response.write(body);
  });
  return new Promise((resolve) => {
    child.on('close', () => {
      response.end();
      resolve();
    });
  });
}

function writeHead(response: ServerResponse, text: string): void {
  const headers = text.split('\r\n').map((line) => line.split(': ', 2) as [string, string]);
  const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1];
  response.writeHead(
    status === undefined ? 200 : Number.parseInt(status, 10),
    headers.filter(([name]) => name.toLowerCase() !== 'status').flat(),
  );
}
