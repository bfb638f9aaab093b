/** A line to a registry that counts, and may delay, what goes there; programs that are killed on the way. */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { freePort } from './tools.ts';

export interface CountedLine {
  readonly host: string;
  /** Bytes that went to the registry. */
  readonly bytes: () => number;
  readonly onBytes: (listener: (bytes: number) => void) => void;
  readonly stop: () => void;
}

/**
 * @param target `host:port` of loopback
 * @param speed bytes a second towards the target; 0 for as fast as it goes
 */
export async function countedLine(target: string, speed = 0): Promise<CountedLine> {
  let bytes = 0;
  let freeAt = 0;
  let listener: (bytes: number) => void = () => undefined;
  const port = await freePort();
  const server = createServer((socket) => {
    const onward = connect(Number(target.split(':')[1]), '127.0.0.1');
    const counting = new Transform({
      transform: (chunk: Buffer, _, done) => {
        bytes += chunk.length;
        listener(bytes);
        if (speed === 0) return done(null, chunk);
        freeAt = Math.max(freeAt, performance.now()) + (chunk.length * 1000) / speed;
        setTimeout(() => done(null, chunk), freeAt - performance.now());
      },
    });
    for (const one of [socket, onward]) one.on('error', () => [socket, onward].map((each) => each.destroy()));
    socket.pipe(counting).pipe(onward).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    host: `127.0.0.1:${port}`,
    bytes: () => bytes,
    onBytes: (tell) => {
      listener = tell;
    },
    stop: () => void server.close(),
  };
}

/** Runs a program of Node; kills it once so many bytes have gone over the line in all. Gives its exit code, null when killed. */
export function killedAt(
  parameters: readonly string[],
  line: CountedLine,
  limit: number,
): Promise<number | null> {
  return new Promise((done) => {
    const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said: Buffer[] = [];
    child.stderr.on('data', (chunk) => said.push(chunk));
    line.onBytes((bytes) => bytes >= limit && child.kill('SIGKILL'));
    child.on('close', (code) => {
      if (code) console.error(Buffer.concat(said).toString());
      done(code);
    });
  });
}
