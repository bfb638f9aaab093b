/** opm's commands, each loaded when it is called for. */
import type { OpmCommand } from './command.ts';

export interface OpmEntry {
  readonly words: string;
  readonly load: () => Promise<OpmCommand>;
}

export const OPM_COMMANDS: readonly OpmEntry[] = [
  { words: 'validate', load: async () => (await import('./validate.ts')).command },
  { words: 'render', load: async () => (await import('./render.ts')).command },
  { words: 'init', load: async () => (await import('./init.ts')).command },
  { words: 'generate dockerfile', load: async () => (await import('./dockerfile.ts')).command },
  { words: 'migrate', load: async () => (await import('./migrate.ts')).command },
  { words: 'alpha list packages', load: async () => (await import('./list.ts')).packages },
  { words: 'alpha list channels', load: async () => (await import('./list.ts')).channels },
  { words: 'alpha list bundles', load: async () => (await import('./list.ts')).bundles },
  { words: 'alpha render-graph', load: async () => (await import('./graph.ts')).command },
  { words: 'alpha render-template', load: async () => (await import('./template.ts')).command },
  { words: 'alpha render-veneer', load: async () => (await import('./template.ts')).veneer },
  { words: 'alpha convert-template basic', load: async () => (await import('./convert.ts')).basic },
  {
    words: 'alpha convert-template substitutes',
    load: async () => (await import('./convert.ts')).substitutes,
  },
  { words: 'version', load: async () => (await import('./version.ts')).command },
];
