// A terminal that keeps what is printed to it.
import type { Terminal } from '../../pipeline/terminal.ts';

export interface Capture {
  readonly terminal: Terminal;
  readonly printed: () => string;
  readonly complaints: () => string;
}

export function capture(directory: string, input: string): Capture {
  const out: string[] = [];
  const err: string[] = [];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const terminal: Terminal = {
    out: async (content) => {
      out.push(typeof content === 'string' ? content : decoder.decode(content, { stream: true }));
    },
    err: (text) => {
      err.push(text);
    },
    interactive: false,
    isScreen: false,
    columns: 80,
    directory,
    environment: {},
    now: () => new Date(0),
    interrupted: () => new Promise(() => undefined),
    ask: async () => '',
    input: async () => input,
  };
  return { terminal, printed: () => out.join(''), complaints: () => err.join('') };
}
