import type { Command } from '../command.ts';
import { inventoryOf } from '../inventory/inventory.ts';
import { CONTEXT_OPTION, readClusters } from '../inventory/open-clusters.ts';

export const command: Command = {
  words: 'inventory',
  operands: '',
  options: {
    kubeconfig: {
      value: 'FILE',
      description: 'kubeconfig (default: KUBECONFIG, then ~/.kube/config)',
    },
    context: CONTEXT_OPTION,
    anonymize: {
      description:
        'replace the name of each cluster with a hash of its id, and leave out names of CatalogSources, Subscriptions and namespaces',
    },
  },
  details: [
    'Prints what clusters have installed as a fleet, for --fleet of check, audit and next. Portolan only reads: it lists',
    'Subscriptions, ClusterServiceVersions and ClusterExtensions, and gets the ClusterVersion. It authenticates with a token',
    'or a client certificate of the kubeconfig, and does not run credential plugins.',
  ].join('\n'),
  examples: [
    'portolan inventory > fleet.json',
    'portolan inventory --context east --context west --anonymize > fleet.json',
  ],
  run: async (invocation, terminal) => {
    const anonymize = invocation.flag('anonymize');
    const read = await readClusters(invocation, terminal, (api, name) =>
      inventoryOf(api, { name, anonymize }),
    );
    const rows = read.flat();
    const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
    const list = rows.length === 0 ? '[]' : `[\n${lines}\n  ]`;
    await terminal.out(`{\n  "apiVersion": "portolan/v1alpha1",\n  "kind": "Fleet",\n  "rows": ${list}\n}\n`);
    return 0;
  },
};
