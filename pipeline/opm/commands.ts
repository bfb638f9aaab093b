/** opm's commands, each loaded when it is called for. */
import type { OpmCommand } from './command.ts';

export interface OpmEntry {
  readonly words: string;
  readonly load: () => Promise<OpmCommand>;
}

export const OPM_COMMANDS: readonly OpmEntry[] = [
  { words: 'validate', load: async () => (await import('./validate.ts')).command },
  { words: 'render', load: async () => (await import('./render.ts')).command },
  { words: 'version', load: async () => (await import('./version.ts')).command },
];
