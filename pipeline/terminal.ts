import { withoutUserinfo } from './secrets.ts';
import { logSafe } from './text.ts';

/**
 * The world as a command sees it: read once when the program starts, passed on as data.
 */
export interface Terminal {
  /**
   * Writes text, or bytes of UTF-8, to standard output; settles when they have been taken. Text is what people read, or JSON:
   * commands get a terminal that escapes commands for logs in it. Bytes are data, which stays as it is, such as YAML.
   */
  readonly out: (content: string | Uint8Array) => Promise<void>;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
  /** Whether standard error is a terminal, where progress may be redrawn. */
  readonly interactive: boolean;
  /** Whether standard output is a terminal, where rows are cut to its width. */
  readonly isScreen: boolean;
  /** Width of the terminal, in characters. */
  readonly columns: number;
  /** The directory that relative paths start from. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  /** Settles when the program is asked to end: an interrupt, a hang-up, a termination. */
  readonly interrupted: () => Promise<void>;
  /** Asks a question; gives the next line of standard input, nothing at its end. */
  readonly ask: (question: string) => Promise<string>;
  /** All of standard input. */
  readonly input: () => Promise<string>;
}

/** Text that is data: a file or document that must not change, such as YAML. */
export function dataBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * A terminal that writes no text with a password in an address, or which the log of a workflow takes for a command. Bytes stay as
 * they are.
 */
export function guardedTerminal(terminal: Terminal): Terminal {
  const [out, err] = [logSafe(), logSafe()];
  return {
    ...terminal,
    out: (content) => terminal.out(typeof content === 'string' ? out(withoutUserinfo(content)) : content),
    err: (text) => terminal.err(err(withoutUserinfo(text))),
  };
}

/** 0: passed; 1: failed; 2: could not complete the check. */
export type ExitCode = 0 | 1 | 2;

/** Where git and other programs are looked for; nothing where the environment has no `PATH`. */
export function searchPath({ environment }: Terminal): { searchPath?: string } {
  const path = environment['PATH'];
  return path === undefined ? {} : { searchPath: path };
}
