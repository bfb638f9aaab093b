/** A migration as people read it: the checks of each operator as a table, and the commands that hand over to library-olm. */
import { emitPortableYaml } from '../../../catalog/yaml/emit.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, linesText } from '../../text.ts';
import type { Answer } from '../catalog/installed-next.ts';
import { tableText } from '../catalog/table.ts';
import type { CheckRow, LIBRARY_OLM } from './library-olm.ts';
import type { CatalogShare, MigratedCluster, MigratedOperator, MigrationReport } from './migration.ts';

type Screen = Pick<Terminal, 'isScreen' | 'columns'>;

/** The report as text: each cluster, then what OLM v1 can install, then the next steps of each cluster. */
export function migrationText({ clusters, catalogs, libraryOlm }: MigrationReport, screen: Screen): string {
  return [
    ...clusters.map((cluster) => clusterText(cluster, { libraryOlm, screen, isOne: clusters.length === 1 })),
    '\n',
    linesText(catalogs.map(shareLine)),
    ...clusters.map((cluster) => linesText(handoverLines(cluster, clusters.length === 1))),
  ].join('');
}

/** The migration of a cluster as text. */
function clusterText(
  { cluster, checks, clusterCatalogs, operators, alreadyMigrated }: MigratedCluster,
  about: { readonly libraryOlm: typeof LIBRARY_OLM; readonly screen: Screen; readonly isOne: boolean },
): string {
  const { date, commit } = about.libraryOlm;
  return [
    linesText([
      ...(about.isOne ? [] : [`Cluster ${cluster}`]),
      `Checks of library-olm as of ${date} (${commit})`,
      '',
    ]),
    checkTable(checks, about.screen),
    linesText(
      clusterCatalogs.map(({ source, status, reason }) => `CatalogSource ${source}: ${status}: ${reason}`),
    ),
    linesText(alreadyMigrated.map((name) => `ClusterExtension ${name}: already migrated`)),
    ...operators.map((operator) => operatorText(operator, about.screen)),
  ].join('');
}

/** The checks as a table; for one that can be overridden, with the way to do that. */
function checkTable(rows: readonly CheckRow[], screen: Screen): string {
  const cells = rows.map(({ check, name, result, reason, override }) => [
    check,
    name,
    RESULTS[result],
    override === undefined ? reason : `${reason} (override: ${override})`,
  ]);
  return tableText(['CHECK', 'NAME', 'RESULT', 'REASON'], cells, screen);
}

const RESULTS = { pass: 'pass', refused: 'REFUSED', warning: 'warning', unread: 'NOT CHECKED' };

/** The migration of one operator as text. */
function operatorText(operator: MigratedOperator, screen: Screen): string {
  const {
    namespace,
    name,
    package: packageName,
    installed,
    status,
    checks,
    extension,
    gates,
    obstacles,
    notes,
    next,
  } = operator;
  return [
    linesText([
      '',
      `${namespace}/${name}: ${packageName}${installed === undefined ? '' : ` ${installed}`}: ${status}`,
    ]),
    checkTable(checks, screen),
    linesText([
      ...obstacles.map((why) => `  NOT POSSIBLE: ${why}`),
      ...gates.map((gate) => `  needs the feature gate ${gate}`),
      ...notes.map((note) => `  note: ${note}`),
      ...(next ? [`  OLM v1: ${nextText(next)}`] : []),
      ...extensionLines(extension),
    ]),
  ].join('');
}

/** A ClusterExtension as lines below others; none without one. */
export function extensionLines(extension: Json | undefined): string[] {
  if (extension === undefined) return [];
  const lines = emitPortableYaml(extension).trimEnd().split('\n');
  return lines.map((line) => `    ${line}`);
}

/** The upgrades that follow, and where they end. */
function nextText({ paths: [path] }: Answer): string {
  if (!path) return 'no upgrade';
  const upgrades = path.steps.filter(({ edge }) => edge !== 'none');
  const names = upgrades.map(({ name, version, edge }) => `${version ?? name} (${edge})`);
  const end = path.arrives ? 'the head of a channel' : path.last;
  return names.length === 0 ? `no upgrade: ${end}` : `${names.join(' -> ')}: ${end}`;
}

/** How much of a catalog OLM v1 can install, with the share in whole percent. */
function shareLine({ name, packages, installable, withGate }: CatalogShare): string {
  const share = packages === 0 ? 0 : Math.floor((100 * installable) / packages);
  const gated = withGate === 0 ? '' : `, ${withGate} more with a feature gate for one watched namespace`;
  return `${name}: OLM v1 can install ${installable} of ${amountText(packages, 'package')} (${share} %)${gated}`;
}

/** Who moves the operators, and in which order; or what prevents the migration. @param isOne whether there is no other cluster */
function handoverLines(migrated: MigratedCluster, isOne: boolean): string[] {
  const { cluster, checks, operators } = migrated;
  const where = isOne ? '' : ` on ${cluster}`;
  const open = checks.filter(({ result }) => result === 'refused' || result === 'unread');
  if (open.length > 0) {
    const names = open.map(({ name }) => name).join(', ');
    return [
      '',
      `Not ready: library-olm moves nothing${where} before these checks of the cluster pass: ${names}`,
    ];
  }
  const ready = operators
    .filter(({ order }) => order !== undefined)
    .sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const accepted = operators.flatMap((operator) => acceptLines(operator));
  const left = leftOutLines(migrated);
  if (ready.length === 0 && accepted.length === 0) return left.length === 0 ? [] : ['', ...left];
  return [
    '',
    `library-olm (https://github.com/operator-framework/library-olm) adopts what runs, and can roll back. In this order${where}:`,
    '  migrate-catalogs-v0-to-v1',
    ...ready.map(({ namespace, name }) => `  migrate-operators-v0-to-v1 convert ${name} -n ${namespace}`),
    ...(accepted.length === 0
      ? []
      : ['Only after you have accepted what the table says of them:', ...accepted]),
    ...left,
  ];
}

/** A line for each operator that cannot move, with the first reason. */
export function leftOutLines({ operators }: Pick<MigratedCluster, 'operators'>): string[] {
  return operators
    .filter((operator) => operator.status !== 'Eligible' && acceptLines(operator).length === 0)
    .map(({ namespace, name, status, checks, obstacles }) => {
      const failed = checks.find(({ result }) => result === 'refused' || result === 'unread');
      const why = failed ? `${failed.name}: ${failed.reason}` : (obstacles[0] ?? '');
      return `not moved: ${namespace}/${name} (${status}): ${why}`;
    });
}

/** The command for an operator that library-olm moves when somebody overrides its refusals. */
function acceptLines({ namespace, name, checks, obstacles }: MigratedOperator): string[] {
  const refused = checks.filter(({ result }) => result === 'refused');
  const flags = [...new Set(refused.flatMap(({ override }) => override ?? []))];
  const isSoft = refused.length > 0 && refused.every(({ override }) => override !== undefined);
  const isRead = checks.every(({ result }) => result !== 'unread');
  return isSoft && isRead && obstacles.length === 0
    ? [`  migrate-operators-v0-to-v1 convert ${name} -n ${namespace} ${flags.join(' ')}`]
    : [];
}
