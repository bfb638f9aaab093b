import { dirname, join, resolve } from 'node:path';
import { readFileBytes, readText } from '../../directory.ts';
import type { Terminal } from '../../terminal.ts';
import type { Command, Invocation } from '../command.ts';
import { clusterApi } from '../inventory/cluster-api.ts';
import { type InventoryRow, inventoryOf } from '../inventory/inventory.ts';
import { clusterAccess } from '../inventory/kubeconfig.ts';

export const command: Command = {
  words: 'inventory',
  operands: '',
  options: {
    kubeconfig: {
      value: 'FILE',
      description: 'kubeconfig (default: KUBECONFIG, then ~/.kube/config)',
    },
    context: {
      value: 'NAME',
      description: 'context of a cluster to read (default: the current context)',
      multiple: true,
    },
    anonymize: {
      description:
        'replace the name of each cluster with a hash of its id, and leave out names of CatalogSources',
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
    const path = kubeconfigPath(invocation, terminal);
    const readFile = (name: string): string => readText(resolve(dirname(path), name));
    const file = { path, bytes: readFileBytes(path), readFile };
    const contexts = [...new Set(invocation.list('context'))];
    const anonymize = invocation.flag('anonymize');
    const rows: InventoryRow[] = [];
    for (const context of contexts.length > 0 ? contexts : [undefined]) {
      const access = clusterAccess(file, context);
      const api = clusterApi(access);
      try {
        rows.push(...(await inventoryOf(api, { name: access.name, anonymize })));
      } finally {
        api.close();
      }
    }
    const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n');
    const list = rows.length === 0 ? '[]' : `[\n${lines}\n  ]`;
    await terminal.out(`{\n  "apiVersion": "portolan/v1alpha1",\n  "kind": "Fleet",\n  "rows": ${list}\n}\n`);
    return 0;
  },
};

function kubeconfigPath({ text }: Invocation, { directory, environment }: Terminal): string {
  const [first = ''] = (environment['KUBECONFIG'] ?? '').split(':');
  const named =
    text('kubeconfig') ?? (first === '' ? join(environment['HOME'] ?? '/', '.kube/config') : first);
  return resolve(directory, named);
}
