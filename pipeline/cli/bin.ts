/** The program: reads the world once, and runs the command line. */
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { fileError } from '../directory.ts';
import type { Terminal } from '../terminal.ts';
import { linesText, screenText } from '../text.ts';
import { runCommandLine } from './main.ts';

declare const PORTOLAN_VERSION: string;

// The program runs for a fraction of a second: what the engine's optimizer spends on
// inlining it never earns back. Without it every command takes a tenth to a fifth less.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
// The engine lets the memory grow to four times what is in use before it looks for what is not. A check uses most of
// what it reads until its end, and few of its functions run long enough to be optimized as early as by default: so it is
// when an editor opens a catalog. Node 24 does not know that flag, and complains.
const [, , word] = process.argv;
setFlagsFromString(`--heap-growing-percent=${word === 'check' ? 300 : 70}`);
const isNode20 = process.versions.node.startsWith('20.');
if (isNode20 && (word === 'check' || word === 'lsp')) setFlagsFromString('--interrupt-budget=264000');

const environment = process.env;

let isRead = true;

const decoder = new TextDecoder();
const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });

const terminal: Terminal = {
  out: (chunk) =>
    new Promise((resolve) => {
      if (!isRead) return resolve();
      // Unlike a wait for room, this ends for a write that fails, too.
      const shown = process.stdout.isTTY ? screenText(textOf(chunk)) : chunk;
      const hasRoom = process.stdout.write(shown, () => resolve());
      // Bytes are good no longer than until they are said to have been taken.
      if (hasRoom && typeof chunk === 'string') resolve();
    }),
  err: (chunk) => {
    process.stderr.write(process.stderr.isTTY ? screenText(chunk) : chunk);
  },
  interactive:
    process.stderr.isTTY === true && environment['CI'] === undefined && environment['TERM'] !== 'dumb',
  isScreen: process.stdout.isTTY === true,
  columns: process.stdout.columns ?? 80,
  directory: process.cwd(),
  environment,
  now: () => new Date(),
  interrupted: () =>
    new Promise((resolve) => {
      // Once: a second signal ends a program that does not get to its end.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
    }),
  ask,
  input: async () => (await import('node:stream/consumers')).text(process.stdin),
};

/** Asks a question on the terminal. Where the input ends, the answer is empty: nobody is there to give one. */
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

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough (head) closes the pipe. The verdict is the same with nobody to read the rest.
  if (error.code === 'EPIPE') {
    isRead = false;
    return;
  }
  try {
    writeSync(process.stderr.fd, `portolan: ${fileError(error, 'standard output').message}\n`);
  } finally {
    process.exit(2);
  }
});
// There is nowhere to say that nothing can be said.
process.stderr.on('error', () => undefined);

/** Reports a defect of the program itself: there is no verdict then, so the exit code is 2. */
function reportDefect(error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const lines = ['portolan: this is a bug in portolan, please report it:', ...stack.split('\n')];
  terminal.err(linesText(lines));
  process.exitCode = 2;
}

process.on('uncaughtException', (error) => {
  reportDefect(error);
  process.exit();
});

runCommandLine(process.argv.slice(2), PORTOLAN_VERSION, terminal).then((code) => {
  process.exitCode = code;
}, reportDefect);
