/** The program: reads the world once, and runs the command line. */
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { fileError } from '../directory.ts';
import { main } from './main.ts';
import type { Terminal } from './terminal.ts';

declare const PORTOLAN_VERSION: string;

// The program runs for a fraction of a second: what the engine's optimizer spends on
// inlining it never earns back. Without it every command takes a tenth to a fifth less.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
// The engine lets the memory grow to four times what is in use before it looks for what is not.
setFlagsFromString('--heap-growing-percent=70');

const environment = process.env;

const terminal: Terminal = {
  out: (chunk) =>
    new Promise((resolve) => {
      // Bytes are good no longer than until they are said to have been taken.
      if (typeof chunk !== 'string') process.stdout.write(chunk, () => resolve());
      else if (process.stdout.write(chunk)) resolve();
      else process.stdout.once('drain', resolve);
    }),
  err: (chunk) => {
    process.stderr.write(chunk);
  },
  interactive:
    process.stderr.isTTY === true && environment['CI'] === undefined && environment['TERM'] !== 'dumb',
  colours: process.stdout.isTTY === true && environment['NO_COLOR'] === undefined,
  columns: process.stdout.columns ?? 80,
  directory: process.cwd(),
  environment,
  now: () => new Date(),
  interrupted: () =>
    new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
    }),
  ask,
  input: async () => (await import('node:stream/consumers')).text(process.stdin),
};

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

// A reader that has seen enough (head) closes the pipe: that is no defect of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  writeSync(process.stderr.fd, `portolan: ${fileError(error, 'standard output').message}\n`);
  process.exit(2);
});

main(process.argv.slice(2), PORTOLAN_VERSION, terminal).then((code) => {
  process.exitCode = code;
});
