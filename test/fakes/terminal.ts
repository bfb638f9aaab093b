/** The command line, run in the process of a test. */
import { onTestFinished } from 'vitest';
import { runCommandLine } from '../../pipeline/cli/main.ts';
import type { ExitCode, Terminal } from '../../pipeline/terminal.ts';

export interface Ran {
  readonly exit: ExitCode;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  /** What was written to standard output until now. */
  readonly out: () => string;
  readonly err: () => string;
  /** Interrupts the program and waits for its end. */
  readonly end: () => Promise<ExitCode>;
}

/** Runs one command line to its end. */
export async function portolan(directory: string, ...parameters: readonly string[]): Promise<Ran> {
  return runCommand(parameters, { directory });
}

/** Runs one command line to its end, on a terminal that differs from the plain one. */
export async function runCommand(words: readonly string[], differing: Partial<Terminal> = {}): Promise<Ran> {
  const written = { out: '', err: '' };
  const plain = terminalOf(process.cwd(), written, () => new Promise(() => {}));
  const exit = await runCommandLine(words, '0.0.0', { ...plain, ...differing });
  return { exit, ...written };
}

/** Begins a command that runs until it is interrupted; gives it back once it has written something. */
export async function started(directory: string, ...parameters: readonly string[]): Promise<Running> {
  const written = { out: '', err: '' };
  let interrupt: () => void = () => undefined;
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  const exit = runCommandLine(
    parameters,
    '0.0.0',
    terminalOf(directory, written, () => interrupted),
  );
  let ended = false;
  void exit
    .finally(() => {
      ended = true;
    })
    .catch(() => undefined);
  const end = (): Promise<ExitCode> => {
    interrupt();
    return exit;
  };
  onTestFinished(async () => void (await end()));
  while (written.out === '' && !ended) await new Promise((resolve) => setTimeout(resolve, 5));
  return { out: () => written.out, err: () => written.err, end };
}

function terminalOf(
  directory: string,
  written: { out: string; err: string },
  interrupted: () => Promise<void>,
): Terminal {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    out: async (content) => {
      written.out += typeof content === 'string' ? content : decoder.decode(content, { stream: true });
    },
    err: (text) => {
      written.err += text;
    },
    interactive: false,
    isScreen: false,
    columns: 80,
    directory,
    environment: { PATH: process.env['PATH'] },
    now: () => new Date('2026-01-01T00:00:00Z'),
    interrupted,
    ask: async () => '',
    input: async () => '',
  };
}
