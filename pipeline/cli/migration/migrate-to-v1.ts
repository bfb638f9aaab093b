import { emitPortableYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { PipelineError } from '../../error.ts';
import { dataBytes, type Terminal } from '../../terminal.ts';
import { linesText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { CONTEXT_OPTION, readClusters } from '../inventory/open-clusters.ts';
import { printUnread, readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { operandOf } from './cluster-catalogs.ts';
import { type ClusterView, LISTED, viewOfCluster, viewOfPath } from './cluster-view.ts';
import { type MigratedCluster, migrationOf } from './migration.ts';
import { leftOutLines, migrationText } from './migration-text.ts';

export const command: Command = {
  words: 'migrate-to-v1',
  operands: 'DIR|REFERENCE…',
  options: {
    installed: {
      value: 'FILE|DIR',
      description: `objects of a cluster: a must-gather, a folder of manifests, or the output of oc get ${LISTED} -A -o json`,
      multiple: true,
    },
    kubeconfig: {
      value: 'FILE',
      description: 'read the cluster of this kubeconfig instead of --installed; Portolan sends only GET',
    },
    context: CONTEXT_OPTION,
    source: {
      value: 'CATALOGSOURCE=CATALOG',
      description:
        'which CatalogSource or ClusterCatalog a catalog is, where its name or image does not say so',
      multiple: true,
    },
    format: {
      value: 'text|json|yaml',
      description:
        'output format (default: text); yaml prints only the ClusterCatalogs to create, and the ClusterExtensions of operators that can move',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'For each Subscription of a cluster, prints all checks of library-olm as a table, the ClusterExtension that OLM v1 resolves',
    'to the installed bundle, the upgrades that OLM v1 then makes, and the feature gates that it needs. Each argument is a',
    'catalog on the cluster. For each catalog, shows how many packages OLM v1 can install.',
    '',
    'The ClusterExtension pins the installed version. With manual approvals, keep the pin; with automatic ones, remove it once',
    'it is installed. It is written for OpenShift 5.0 and later; earlier releases need spec.serviceAccount too',
    '(portolan bundle manifests).',
    '',
    'Portolan changes nothing. The output ends with the commands of library-olm, which adopts running operators and can roll',
    'back, in the order in which operators should move, and with those that cannot move, or with the checks of the cluster that',
    'must pass first. Do not remove the Subscription or the ClusterServiceVersion yourself:',
    'that stops the operator. The exit code is 1 if an operator cannot move, and 2 if something was not checked.',
  ].join('\n'),
  examples: [
    'portolan migrate-to-v1 catalogs/v4.20 --installed must-gather',
    'portolan migrate-to-v1 redhat-operators community-operators --kubeconfig ~/.kube/config',
    'portolan migrate-to-v1 catalogs/v4.20 --installed cluster.json --format yaml > extensions.yaml',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.word('format', ['text', 'json', 'yaml']) ?? 'text';
    const named = namedCatalogs(invocation.list('source'));
    const views = await viewsOf(invocation, terminal);
    const catalogs = await readOperands(invocation.operands, invocation, terminal);
    refuseUnknown(named, catalogs);
    printUnread(catalogs, terminal);
    const report = await migrationOf(catalogs, views, named);
    if (format === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else if (format === 'text') await terminal.out(migrationText(report, terminal));
    else {
      for (const document of report.clusters.flatMap(documentsOf))
        await terminal.out(dataBytes(`---\n${emitPortableYaml(document)}`));
      terminal.err(linesText(report.clusters.flatMap(leftOutLines)));
    }
    return exitOf(report.clusters);
  },
};

/** Catalogs by their names on the command line. @throws PipelineError `usage` */
function namedCatalogs(written: readonly string[]): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const one of written) {
    const at = one.indexOf('=');
    const [source, catalog] = [one.slice(0, at), one.slice(at + 1)];
    if (at <= 0 || catalog === '')
      throw new PipelineError('usage', `--source ${one} is not CATALOGSOURCE=CATALOG`, {
        hint: '--source redhat-operators=catalogs/v4.20',
      });
    const other = named.get(catalog) ?? source;
    if (other !== source)
      throw new PipelineError('usage', `--source says that ${catalog} is ${other}, and that it is ${source}`);
    named.set(catalog, source);
  }
  return named;
}

/** Refuses a mistyped catalog in `--source`, which would mean nothing. @throws PipelineError `usage` */
function refuseUnknown(named: ReadonlyMap<string, string>, catalogs: readonly ReadCatalog[]): void {
  const known = catalogs.flatMap(({ name, prefix }) => [name, operandOf(prefix)]);
  const [catalog, source] = [...named].find(([one]) => !known.includes(one)) ?? [];
  if (catalog === undefined) return;
  throw new PipelineError('usage', `--source ${source}=${catalog}: no catalog is called ${catalog}`, {
    hint: `--source ${source}=${catalogs.map(({ name }) => name).join('|')}`,
  });
}

/** The clusters that the options name: from files, or read from their APIs. @throws PipelineError `usage` */
async function viewsOf(invocation: Invocation, terminal: Terminal): Promise<ClusterView[]> {
  const paths = invocation.list('installed');
  const isOnline = invocation.list('context').length > 0 || invocation.text('kubeconfig') !== undefined;
  // Both, or neither.
  if (paths.length > 0 === isOnline) {
    const text = isOnline
      ? '--installed and --kubeconfig exclude each other'
      : 'nothing says which cluster is meant';
    throw new PipelineError('usage', text, { hint: 'use --installed FILE|DIR, or --kubeconfig FILE' });
  }
  if (isOnline) return readClusters(invocation, terminal, viewOfCluster);
  const views: ClusterView[] = [];
  for (const path of paths) views.push(await viewOfPath(path, terminal.directory));
  return views;
}

/** What can be applied: catalogs first. */
function documentsOf({ clusterCatalogs, operators }: MigratedCluster): Json[] {
  return [
    ...clusterCatalogs.flatMap(({ document }) => (document === undefined ? [] : [document])),
    ...operators.flatMap(({ status, extension }) =>
      status === 'Eligible' && extension !== undefined ? [extension] : [],
    ),
  ];
}

/** The exit code: an operator that cannot move counts more than one that could not be checked. */
function exitOf(clusters: readonly MigratedCluster[]): 0 | 1 | 2 {
  const statuses = new Set(clusters.flatMap(({ operators }) => operators.map(({ status }) => status)));
  const results = new Set(clusters.flatMap(({ checks }) => checks.map(({ result }) => result)));
  if (statuses.has('Ineligible') || statuses.has('Conflict') || results.has('refused')) return 1;
  return statuses.has('Unknown') || results.has('unread') ? 2 : 0;
}
