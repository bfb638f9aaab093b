import type { Command } from '../command.ts';

export const command: Command = {
  words: 'lsp',
  operands: '',
  options: { stdio: { description: 'use standard input and output; the only way, and the default' } },
  details: [
    'Serves an editor by the Language Server Protocol: findings in catalogs, templates, bundles, the policy,',
    'release-config.yaml and ImageSetConfigurations on their lines while you type, fixes, what clusters do with a version,',
    'completion and an outline. Your editor starts it; see docs/editor.md. Nothing is contacted or executed.',
  ].join('\n'),
  examples: ['portolan lsp'],
  run: async () => {
    const { serveEditor: serve } = await import('./server.ts');
    return serve(process.stdin, process.stdout);
  },
};
