import { resolve } from 'node:path';
import { emitYaml } from '../../../catalog/yaml/emit.ts';
import { readClusterObjects } from '../../check/cluster.ts';
import { readText } from '../../directory.ts';
import { amount, linesText } from '../../text.ts';
import type { Command } from '../command.ts';
import { readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import type { Answer } from './installed-next.ts';
import { type CatalogShare, type MigratedOperator, migrationOf } from './migration.ts';

export const command: Command = {
  words: 'migrate-to-v1',
  operands: 'DIR|REFERENCE…',
  options: {
    installed: {
      value: 'FILE',
      description:
        'objects of a cluster: the output of oc get subscriptions.operators.coreos.com,csv,operatorgroups,operatorconditions,catalogsources -A -o json',
      required: true,
    },
    format: {
      value: 'text|json|yaml',
      description: 'output format (default: text); yaml prints only the ClusterExtensions',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'For each Subscription and its ClusterServiceVersion, shows the equivalent ClusterExtension, the upgrades that OLM v1 then',
    'makes from the same version, the feature gates that it needs, and what is not possible and why. For each catalog, shows',
    'how many packages OLM v1 can install. Each argument is a catalog on the cluster.',
    '',
    'The ClusterExtension asks for the installed version. Remove version once it is installed, to let OLM v1 upgrade. It is',
    'written for OpenShift 5.0 and later; earlier releases need spec.serviceAccount too (portolan bundle manifests).',
    'library-olm moves an operator without stopping it: it adopts what OLM v0 installed, and can roll back. Portolan runs its',
    'checks on the objects of the file, and names the kinds that the file lacks. Do not delete the Subscription or the',
    'ClusterServiceVersion yourself: that stops the operator. The exit code is 1 if an operator cannot move,',
    'and 2 if something was not checked.',
  ].join('\n'),
  examples: [
    'portolan migrate-to-v1 catalogs/v4.20 --installed cluster.json',
    'portolan migrate-to-v1 catalogs/v4.20 --installed cluster.json --format yaml > extensions.yaml',
  ],
  run: async (invocation, terminal) => {
    const { operands, needed, word } = invocation;
    const file = needed('installed');
    const format = word('format', ['text', 'json', 'yaml']) ?? 'text';
    const cluster = readClusterObjects(readText(resolve(terminal.directory, file)), file);
    const catalogs = await readOperands(operands, invocation, terminal);
    const report = await migrationOf(catalogs, cluster);
    if (format === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else if (format === 'yaml')
      for (const { extension } of report.operators)
        if (extension !== undefined) await terminal.out(`---\n${emitYaml(extension)}`);
    if (format === 'text') {
      await terminal.out(
        linesText([
          ...report.operators.flatMap(operatorLines),
          '',
          ...report.catalogs.map(shareLine),
          ...handoverLines(report.operators),
        ]),
      );
    }
    if (report.operators.some(({ extension }) => extension === undefined)) return 1;
    return report.operators.every(({ unread }) => unread.length === 0) ? 0 : 2;
  },
};

function operatorLines(operator: MigratedOperator): string[] {
  const { namespace, name, package: of, installed, extension, gates, obstacles, unread, next } = operator;
  return [
    `${namespace}/${name}: ${of}${installed === undefined ? '' : ` ${installed}`}`,
    ...obstacles.map((why) => `  NOT POSSIBLE: ${why}`),
    ...(unread.length > 0 ? [`  not checked: the file has no ${unread.join(', ')}`] : []),
    ...gates.map((gate) => `  needs the feature gate ${gate}`),
    ...(next ? [`  OLM v1: ${nextText(next)}`] : []),
    ...(extension === undefined
      ? []
      : emitYaml(extension)
          .trimEnd()
          .split('\n')
          .map((line) => `    ${line}`)),
  ];
}

/** Who moves the operators, as soon as one can move. */
function handoverLines(operators: readonly MigratedOperator[]): string[] {
  const ready = operators.filter(({ extension }) => extension !== undefined);
  if (ready.length === 0) return [];
  const names = ready.map(({ namespace, name }) => `${namespace}/${name}`).join(', ');
  return [
    '',
    `library-olm can move ${names} without stopping them (https://github.com/operator-framework/library-olm):`,
    '  migrate-catalogs-v0-to-v1, once; then for each operator migrate-operators-v0-to-v1 check, and convert',
  ];
}

/** The upgrades that follow, and where they end. */
function nextText({ paths: [path] }: Answer): string {
  if (!path) return 'no upgrade';
  const [first, ...more] = path.steps;
  const upgrades = [...(first ? [first] : []), ...more].filter(({ edge }) => edge !== 'none');
  const names = upgrades.map(({ name, version, edge }) => `${version ?? name} (${edge})`);
  const end = path.arrives ? 'the head of a channel' : path.last;
  return names.length === 0 ? `no upgrade: ${end}` : `${names.join(' -> ')}: ${end}`;
}

function shareLine({ name, packages, installable, withGate }: CatalogShare): string {
  const share = packages === 0 ? 0 : Math.floor((100 * installable) / packages);
  const gated = withGate === 0 ? '' : `, ${withGate} more with a feature gate for one watched namespace`;
  return `${name}: OLM v1 can install ${installable} of ${amount(packages, 'package')} (${share} %)${gated}`;
}
