import { main } from '../../pipeline/cli/main.ts';
import type { Terminal } from '../../pipeline/cli/terminal.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line as the program does, with a terminal that remembers. */
export async function portolan(words: readonly string[], over: Partial<Terminal> = {}): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal: Terminal = {
    out: async (text) => {
      out.push(text);
    },
    err: (text) => err.push(text),
    interactive: false,
    colours: false,
    columns: 80,
    directory: process.cwd(),
    environment: { PATH: process.env['PATH'] },
    now: () => new Date('2026-01-31T12:00:00Z'),
    interrupted: () => new Promise(() => undefined),
    input: async () => '',
    ...over,
  };
  const code = await main(words, '0.0.0', terminal);
  return { code, out: out.join(''), err: err.join('') };
}
