import { opm } from '../opm/main.ts';
import type { Command } from './command.ts';

export const command: Command = {
  words: 'opm',
  summary: 'Do what opm does: its commands and flags as they are typed, its output byte for byte.',
  operands: 'COMMAND [WORD…]',
  options: {},
  passthrough: true,
  details: [
    'Put "portolan opm" where a Makefile says "opm". Exit codes, standard output and files are those of opm; what is',
    'wrong is said on standard error in our words: every defect, with its file, line and column. "portolan opm --help"',
    'lists the commands.',
  ].join('\n'),
  examples: [
    'portolan opm validate catalogs/v4.20',
    'portolan opm render quay.io/operatorhubio/catalog:latest -o yaml',
    'portolan opm alpha render-template semver template.yaml -o yaml > catalog.yaml',
  ],
  run: ({ operands }, terminal) =>
    opm(operands, {
      terminal,
      registry: async (host, options) => {
        const { registryClient } = await import('../render/client.ts');
        return registryClient(terminal, host, options);
      },
    }),
};
