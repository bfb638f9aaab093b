/** Calls of the registry API, and what its server takes meanwhile. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';

/**
 * Calls a method with an empty message.
 *
 * @returns bytes of the answer
 * @throws Error for a call that fails
 */
export function call(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let bytes = 0;
    let status: unknown;
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status'];
    });
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    stream.on('error', reject);
    stream.on('close', () =>
      status === '0' ? resolve(bytes) : reject(new Error(`${path} ended with ${status}`)),
    );
    // An empty message: not compressed, of no bytes.
    stream.end(Buffer.alloc(5));
  });
}

/** Ticks of the kernel in a second. */
const TICKS = 100;

/** Seconds of user and system together. */
export function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** MiB at the peak. */
export function memoryOf({ pid }: ChildProcess): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
