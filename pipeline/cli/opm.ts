import type { Command } from './command.ts';
import { runOpm } from './opm/main.ts';

export const command: Command = {
  words: 'opm',
  operands: 'COMMAND [WORD…]',
  options: {},
  passthrough: true,
  details: [
    'Replace "opm" with "portolan opm" in a Makefile. Exit codes, standard output and written files are the same as those of',
    'opm. Error messages on standard error are those of Portolan: all errors at once, with file, line and column.',
    'Run "portolan opm --help" for the list of commands.',
  ].join('\n'),
  examples: [
    'portolan opm validate catalogs/v4.20',
    'portolan opm render quay.io/operatorhubio/catalog:latest -o yaml',
    'portolan opm alpha render-template semver template.yaml -o yaml > catalog.yaml',
  ],
  run: ({ operands }, terminal) =>
    runOpm(operands, {
      terminal,
      registry: async (host, options) => {
        const { registryClient } = await import('../catalogs/render/client.ts');
        return registryClient(terminal, host, options);
      },
    }),
};
