/**
 * From OLM v0 to OLM v1: for each Subscription of a cluster what library-olm says of it, the ClusterExtension that asks for
 * the same, and what OLM v1 then does.
 *
 * Sources: library-olm (see library-olm.ts); operator-controller, docs/draft/howto/customize-operator-deployments.md (the
 * settings of a Subscription are those of `deploymentConfig`) and internal/operator-controller/features/features.go.
 */
import { extensionDocument, gatesOf } from '../../../catalog/bundle/extension.ts';
import { headOf } from '../../../catalog/fbc/channel.ts';
import { versionText } from '../../../catalog/fbc/edge.ts';
import type { Catalog } from '../../../catalog/fbc/model.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { gatedSupport } from '../../../catalog/olm/resolve/support.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import {
  type ClusterInstallation,
  type ClusterObject,
  installationsOf,
  textAt,
} from '../../check/cluster.ts';
import { type Answer, answerQuestion } from '../catalog/installed-next.ts';
import {
  type ClusterCatalogs,
  type MovedCatalog,
  movedCatalogs,
  type ServedCatalog,
  servedCatalogs,
  servedFor,
  sourceOf,
} from './cluster-catalogs.ts';
import { type ClusterView, placeOfObject } from './cluster-view.ts';
import { type ExtensionPlan, planExtension } from './extension-plan.ts';
import {
  type CheckRow,
  checksOf,
  clusterChecks,
  csvVersion,
  dependentsOf,
  LIBRARY_OLM,
  migratedExtensions,
} from './library-olm.ts';

/** As JSON a public interface. */
export interface MigrationReport {
  /** The version of library-olm whose checks were run. */
  readonly libraryOlm: typeof LIBRARY_OLM;
  readonly clusters: readonly MigratedCluster[];
  readonly catalogs: readonly CatalogShare[];
}

export interface MigratedCluster {
  readonly cluster: string;
  /** What library-olm needs of the cluster itself. */
  readonly checks: readonly CheckRow[];
  readonly clusterCatalogs: readonly MovedCatalog[];
  readonly operators: readonly MigratedOperator[];
  /** ClusterExtensions that library-olm made, whose Subscriptions are gone. */
  readonly alreadyMigrated: readonly string[];
}

export interface MigratedOperator {
  /** Of the Subscription. */
  readonly namespace: string;
  readonly name: string;
  readonly package: string;
  /** The version, or the bundle's name where that is unknown; absent while nothing is installed. */
  readonly installed?: string;
  /** library-olm's classes, and `Unknown` where something that it reads was not there. */
  readonly status: 'Eligible' | 'Ineligible' | 'Conflict' | 'Unknown';
  /** Its place in the order in which operators should move, from 1; absent for those that cannot. */
  readonly order?: number;
  readonly checks: readonly CheckRow[];
  /** What OLM v1 accepts and resolves to the installed bundle; absent where there is no such. */
  readonly extension?: Json;
  /** Feature gates of operator-controller without which it refuses the ClusterExtension. */
  readonly gates: readonly string[];
  /** Why OLM v1 cannot install it. */
  readonly obstacles: readonly string[];
  readonly notes: readonly string[];
  /** What OLM v1 then does from the same version; absent where it cannot install the operator. */
  readonly next?: Answer;
}

/** How many packages of a catalog OLM v1 can install, by the heads of their default channels. */
export interface CatalogShare {
  readonly name: string;
  readonly packages: number;
  readonly installable: number;
  /** Further packages that need the feature gate for one watched namespace. */
  readonly withGate: number;
}

/** What a migration does with the Subscriptions of clusters. What OLM v1 has installed already is left out. */
export async function migrationOf(
  catalogs: readonly ReadCatalog[],
  views: readonly ClusterView[],
  named: ReadonlyMap<string, string>,
): Promise<MigrationReport> {
  const clusters: MigratedCluster[] = [];
  for (const view of views) clusters.push(await clusterOf(catalogs, view, named));
  return {
    libraryOlm: LIBRARY_OLM,
    clusters,
    catalogs: catalogs.map(({ name, catalog }) => shareOf(name, catalog)),
  };
}

/** What a migration does with a cluster: its catalogs and operators. */
async function clusterOf(
  catalogs: readonly ReadCatalog[],
  view: ClusterView,
  named: ReadonlyMap<string, string>,
): Promise<MigratedCluster> {
  const moved = movedCatalogs(view);
  const ground = { view, moved, served: servedCatalogs(catalogs, { view, moved, named }) };
  const operators: MigratedOperator[] = [];
  for (const one of installationsOf(view.objects)) {
    if (one.olm === 'v0') operators.push(await migratedOperator(one, ground));
  }
  const subscriptions = new Set(operators.map(({ namespace, name }) => `${namespace}/${name}`));
  return {
    cluster: view.name,
    checks: clusterChecks(view),
    clusterCatalogs: moved,
    operators: migrationOrder(operators, view),
    alreadyMigrated: [...migratedExtensions(view)].flatMap(([from, name]) =>
      subscriptions.has(from) ? [] : [name],
    ),
  };
}

/**
 * The order in which operators should move: those that others require come last, because OLM v0 looks for what its operators
 * require; those of one namespace, which OLM v0 resolves together, follow each other.
 */
function migrationOrder(operators: readonly MigratedOperator[], view: ClusterView): MigratedOperator[] {
  const names = new Set(operators.map((one) => one.package));
  // 1 for a package that others require, 0 for one that nobody does: how many they are makes no difference.
  const required = new Map([...names].map((name) => [name, Math.sign(dependentsOf(view, name).length)]));
  const rank = (one: MigratedOperator): number => required.get(one.package) ?? 0;
  const eligible = operators
    .filter(({ status }) => status === 'Eligible')
    .sort(
      (a, b) => rank(a) - rank(b) || compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
    );
  const order = new Map(eligible.map((one, i) => [one, i + 1]));
  return operators.map((one) => {
    const own = order.get(one);
    return own === undefined ? one : { ...one, order: own };
  });
}

/** What a migration does with one operator, and what OLM v1 then upgrades it to. */
async function migratedOperator(
  one: ClusterInstallation,
  ground: ClusterCatalogs,
): Promise<MigratedOperator> {
  const { namespace, name, installed } = one;
  const subscription = ground.view.one('Subscription', namespace, name) ?? {};
  const source = servedFor(ground.served, ground.moved, subscription);
  const checks = [...checksOf(ground.view, subscription), catalogRow(subscription, ground, source)];
  const plan = planExtension(one, { ground, subscription, source, checks });
  const { obstacles, notes, asked } = plan;
  const about = {
    namespace,
    name,
    package: one.package,
    ...(installed ? { installed: versionText(installed) } : {}),
    status: statusOf(checks, obstacles),
    checks,
    obstacles,
  };
  if (!asked) return { ...about, gates: [], notes };
  const { options, home } = asked;
  // The upgrades without the pin, which holds them back.
  const next = await answerQuestion([{ ...home.read, name: home.name }], {
    package: one.package,
    version: undefined,
    bundle: installed?.name,
    channels: [options.channel],
    olm: ['v1'],
    range: '',
    catalog: undefined,
  });
  const all = [...notes, ...upgradeNotes(one, plan, next)];
  return { ...about, extension: extensionDocument(options), gates: gatesOf(options), notes: all, next };
}

/** The upgrades that the pin of a ClusterExtension holds back, and how to allow them. */
function upgradeNotes(
  { subscription }: ClusterInstallation,
  { asked }: ExtensionPlan,
  { paths: [path] }: Answer,
): string[] {
  const steps = path?.steps.filter(({ edge }) => edge !== 'none') ?? [];
  const follow = steps.map(({ name, version }) => version ?? name).join(', then ');
  if (subscription?.isManual) {
    const what = follow === '' ? 'no upgrade follows' : `the upgrades that follow are ${follow}`;
    return [
      `approvals are manual, so version ${asked?.options.version} is pinned: ${what}; to approve one, set spec.source.catalog.version to it`,
    ];
  }
  const then = follow === '' ? 'no upgrade follows yet' : `OLM v1 then upgrades to ${follow}`;
  return [`approvals are automatic: remove spec.source.catalog.version when it is installed; ${then}`];
}

/** The class of an operator: it is only unknown where nothing refuses it. */
function statusOf(checks: readonly CheckRow[], obstacles: readonly string[]): MigratedOperator['status'] {
  const refused = checks.filter(({ result }) => result === 'refused');
  if (refused.some(({ name }) => name === 'Conflict')) return 'Conflict';
  if (refused.length > 0 || obstacles.length > 0) return 'Ineligible';
  return checks.some(({ result }) => result === 'unread') ? 'Unknown' : 'Eligible';
}

/** C7: whether a ClusterCatalog has the installed version. */
function catalogRow(
  subscription: ClusterObject,
  { view, served, moved }: ClusterCatalogs,
  source: ServedCatalog | undefined,
): CheckRow {
  const row = { check: 'C7', name: 'Catalog availability' };
  const { namespace } = placeOfObject(subscription);
  const csv = view.one('ClusterServiceVersion', namespace, textAt(subscription, 'status', 'installedCSV'));
  const packageName = textAt(subscription, 'spec', 'name');
  const channel = textAt(subscription, 'spec', 'channel');
  const version = csvVersion(csv);
  // A catalog that stands for every CatalogSource has, in `source`, the name of this Subscription's one.
  const all = source && source.sources === undefined ? [source] : served;
  // library-olm takes the one with the highest priority, then by name.
  const having = all
    .filter(({ read }) => isServing(read.catalog, { packageName, version, channel }))
    .sort((a, b) => b.priority - a.priority || compareText(a.name, b.name));
  const [best] = having;
  if (best) return { ...row, result: 'pass', reason: `package available in ClusterCatalog ${best.name}` };
  const left = moved.find((one) => one.source === sourceOf(subscription) && one.status === 'skip');
  if (left) return { ...row, result: 'refused', reason: `CatalogSource ${left.source}: ${left.reason}` };
  if (!source) {
    const reason = `the catalog of CatalogSource ${textAt(subscription, 'spec', 'source')} is not among those that were given`;
    return { ...row, result: 'unread', reason };
  }
  const where = channel === '' ? '' : ` in channel ${JSON.stringify(channel)}`;
  const queried = all.map(({ name }) => name).join(' ');
  const reason = `package ${JSON.stringify(packageName)} at version ${JSON.stringify(version)}${where} not found in any serving ClusterCatalog (queried: [${queried}])`;
  return {
    ...row,
    result: 'refused',
    reason: moved.length === 0 ? reason : `${reason}; run migrate-catalogs-v0-to-v1 first`,
  };
}

/** Whether a catalog has a version of a package, and the channel if one is asked for. */
function isServing(
  { packages }: Catalog,
  {
    packageName,
    version,
    channel,
  }: { readonly packageName: string; readonly version: string; readonly channel: string },
): boolean {
  const ofPackage = packages.get(packageName);
  if (!ofPackage || (channel !== '' && !ofPackage.channels.has(channel))) return false;
  return [...ofPackage.bundles.values()].some((bundle) => versionText(bundle) === version);
}

/** Counts the packages that OLM v1 can install, by the heads of their default channels. */
function shareOf(name: string, { packages }: Catalog): CatalogShare {
  const heads = [...packages.values()].map((ofPackage) => {
    const channel = ofPackage.channels.get(ofPackage.defaultChannel);
    const head = channel && headOf(channel);
    return head && ofPackage.bundles.get(head.name);
  });
  const supports = heads.flatMap((head) => (head ? [gatedSupport(head)] : []));
  const free = supports.filter(({ obstacles }) => obstacles.length === 0);
  const withGate = free.filter(({ needsNamespace }) => needsNamespace).length;
  return { name, packages: packages.size, installable: free.length - withGate, withGate };
}
