/** A repository over smart HTTP, by git's own `http-backend`. */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { listen } from './host.ts';

/**
 * Serves one repository until the test ends; everybody may fetch.
 *
 * @param directory a bare repository, or the git directory of another one
 * @returns its URL
 */
export async function gitServer(directory: string): Promise<string> {
  const server = createServer((request, response) => backend(dirname(directory), request, response));
  return `http://${await listen(server)}/${basename(directory)}`;
}

/** Answers a request for a repository in the folder `root`. */
export function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: String(request.headers['content-type'] ?? ''),
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  let isInBody = false;
  child.stdout.on('data', (chunk: Buffer) => {
    if (isInBody) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    isInBody = true;
    const headers = head.subarray(0, end).toString('latin1').split('\r\n');
    const fields = headers.map((line) => line.split(/: */, 2) as [string, string]);
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields));
    response.write(head.subarray(end + 4));
  });
  child.on('close', () => response.end());
}
