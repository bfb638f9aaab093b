/** A host in front of another one that hands requests on, and breaks what a test wants broken. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './host.ts';

/** What happens to one request. */
export type Fault =
  | { readonly kind: 'pass' }
  /** The line is cut before the request is handed on. */
  | { readonly kind: 'cut' }
  /** The line is cut when so many bytes of the request's body have been handed on. */
  | { readonly kind: 'cut-request'; readonly after: number }
  /** The request is done, and the line is cut instead of the answer. */
  | { readonly kind: 'cut-answer' }
  /** The answer's body ends after so many bytes, with the line. */
  | { readonly kind: 'truncate'; readonly after: number }
  /** The answer's body stops after so many bytes, and the line stays. */
  | { readonly kind: 'stall'; readonly after: number }
  /** Nothing is ever answered. */
  | { readonly kind: 'silence' }
  /** Another answer, without handing on. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    }
  /** The request is done, and another status is told. */
  | { readonly kind: 'lie'; readonly status: number }
  /** The request is done, and headers of the answer are changed; an empty one is left out. */
  | { readonly kind: 'headers'; readonly headers: Record<string, string> };

export interface Passing {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Counts all requests from 1. */
  readonly number: number;
}

export interface FaultProxy {
  readonly host: string;
  readonly seen: readonly Passing[];
}

export async function faultProxy(target: string, choose: (request: Passing) => Fault): Promise<FaultProxy> {
  const seen: Passing[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const passing = { method, url, headers, number: seen.length + 1 };
    seen.push(passing);
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    handOn(target, choose(passing), { request, response });
  });
  server.keepAliveTimeout = 60_000;
  return { host: await listen(server), seen };
}

function handOn(
  target: string,
  fault: Fault,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): void {
  if (fault.kind === 'cut') return void request.socket.destroy();
  if (fault.kind === 'silence') return void request.resume();
  if (fault.kind === 'answer') {
    request.resume();
    request.on('end', () => {
      response.writeHead(fault.status, {
        'content-length': Buffer.byteLength(fault.body ?? ''),
        ...fault.headers,
      });
      response.end(fault.body);
    });
    return;
  }
  const [host = '', port = ''] = target.split(':');
  const onward = httpRequest({
    host,
    port,
    method: request.method,
    path: request.url,
    headers: { ...request.headers, host: target },
  });
  onward.on('error', () => request.socket.destroy());
  onward.on('response', (answer) => answerWith(fault, answer, response));
  if (fault.kind !== 'cut-request') return void request.pipe(onward);
  let left = fault.after;
  request.on('data', (chunk: Buffer) => {
    onward.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left > 0) return;
    request.removeAllListeners('data');
    // What was handed on is to arrive before the line breaks.
    setTimeout(() => {
      onward.destroy();
      request.socket.destroy();
    }, 30);
  });
  request.on('end', () => {
    if (left > 0) onward.end();
  });
}

function answerWith(fault: Fault, answer: IncomingMessage, response: ServerResponse): void {
  answer.on('error', () => response.destroy());
  if (fault.kind === 'cut-answer') {
    answer.resume();
    answer.on('end', () => response.destroy());
    return;
  }
  const changed = fault.kind === 'headers' ? { ...answer.headers, ...fault.headers } : { ...answer.headers };
  for (const [name, value] of Object.entries(changed)) if (value === '') delete changed[name];
  if (fault.kind === 'lie') {
    answer.resume();
    response.writeHead(fault.status, { 'content-length': 0 });
    response.end();
    return;
  }
  response.writeHead(answer.statusCode ?? 500, changed);
  if (fault.kind !== 'truncate' && fault.kind !== 'stall') return void answer.pipe(response);
  let left = fault.after;
  answer.on('data', (chunk: Buffer) => {
    if (left > 0) response.write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0 && fault.kind === 'truncate') setTimeout(() => response.destroy(), 20);
  });
  answer.on('end', () => {
    if (left > 0) response.end();
  });
}
