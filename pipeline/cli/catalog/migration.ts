/**
 * From OLM v0 to OLM v1: for each Subscription of a cluster the ClusterExtension that asks for the same, and what OLM v1
 * cannot do of it.
 *
 * Sources: operator-controller, docs/project/olmv1_design_decisions.md (one installation of a package on a cluster, no
 * dependencies), docs/draft/howto/customize-operator-deployments.md (the settings of a Subscription are those of
 * `deploymentConfig`) and internal/operator-controller/features/features.go (feature gates).
 */
import { extensionDocument, gatesOf } from '../../../catalog/bundle/extension.ts';
import { headOf } from '../../../catalog/fbc/channel.ts';
import { versionText } from '../../../catalog/fbc/edge.ts';
import type { Bundle, Catalog, Package } from '../../../catalog/fbc/model.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { isDnsSubdomain, quoted } from '../../../catalog/names.ts';
import { gatedSupport } from '../../../catalog/olm/resolve/support.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import type { ClusterInstallation, ClusterObject } from '../../check/cluster.ts';
import { type Handover, handoverOf } from './handover.ts';
import { type Answer, answerQuestion } from './installed-next.ts';

/** As JSON a public interface. */
interface MigrationReport {
  readonly operators: readonly MigratedOperator[];
  readonly catalogs: readonly CatalogShare[];
}

export interface MigratedOperator {
  /** Of the Subscription. */
  readonly namespace: string;
  readonly name: string;
  readonly package: string;
  /** The version, or the bundle's name where that is unknown; absent while nothing is installed. */
  readonly installed?: string;
  /** What to apply; absent where OLM v1 cannot install the operator. */
  readonly extension?: Json;
  /** Feature gates of operator-controller without which it refuses the ClusterExtension. */
  readonly gates: readonly string[];
  /** Why OLM v1 cannot install it, or library-olm does not hand it over. */
  readonly obstacles: readonly string[];
  /** Kinds of objects that were not in the list, so that what library-olm reads of them was not checked. */
  readonly unread: readonly string[];
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

/** What a cluster has installed, and its objects. */
interface MigratedCluster {
  readonly installations: readonly ClusterInstallation[];
  readonly objects: readonly ClusterObject[];
}

/** What becomes of the Subscriptions of a cluster; what OLM v1 installed already is left out. */
export async function migrationOf(
  catalogs: readonly ReadCatalog[],
  { installations, objects }: MigratedCluster,
): Promise<MigrationReport> {
  const subscriptions = installations.filter(({ olm }) => olm === 'v0');
  const operators: MigratedOperator[] = [];
  for (const one of subscriptions) {
    const handover = handoverOf(objects, one.namespace, one.name);
    operators.push(await migrated(one, { all: subscriptions, catalogs, handover }));
  }
  return { operators, catalogs: catalogs.map(({ name, catalog }) => shareOf(name, catalog)) };
}

async function migrated(
  one: ClusterInstallation,
  {
    all,
    catalogs,
    handover,
  }: {
    readonly all: readonly ClusterInstallation[];
    readonly catalogs: readonly ReadCatalog[];
    readonly handover: Handover;
  },
): Promise<MigratedOperator> {
  const { namespace, name, installed } = one;
  const having = catalogs.filter(({ catalog }) => catalog.packages.has(one.package));
  const source = having.find((catalog) => catalog.name === one.catalog) ?? having[0];
  const ofPackage = source?.catalog.packages.get(one.package);
  const bundle = installed && ofPackage?.bundles.get(installed.name);
  const { refusals, unread } = handover;
  const obstacles = [
    ...placeObstacles(one, all),
    ...bundleObstacles(one, ofPackage, bundle),
    ...refusals.map((why) => `library-olm refuses it: ${why}`),
  ];
  const about = {
    namespace,
    name,
    package: one.package,
    unread,
    ...(installed ? { installed: versionText(installed) } : {}),
  };
  if (obstacles.length > 0 || !source) return { ...about, gates: [], obstacles };
  const options = extensionOptions(one, bundle, ofPackage);
  const pinned = one.subscription?.isManual && installed?.version ? versionText(installed) : '';
  const next = await answerQuestion([source], {
    package: one.package,
    version: undefined,
    bundle: installed?.name,
    channels: [options.channel],
    olm: ['v1'],
    range: pinned,
    catalog: undefined,
  });
  return { ...about, extension: extensionDocument(options), gates: gatesOf(options), obstacles, next };
}

/** What of an installation OLM v1 has no place for, whatever is installed. */
function placeObstacles(
  { package: of, name, channels, namespace, subscription }: ClusterInstallation,
  all: readonly ClusterInstallation[],
): string[] {
  const twins = all.filter(
    (other) => other.package === of && !(other.name === name && other.namespace === namespace),
  );
  const watched = subscription?.watches ?? [];
  const badNames = [of, name, ...channels].filter((text) => !isDnsSubdomain(text));
  return [
    ...(twins.length > 0
      ? [
          `it is also installed in ${twins
            .map((other) => other.namespace)
            .sort(compareText)
            .join(', ')}: OLM v1 installs a package once`,
        ]
      : []),
    ...(watched.length > 1 ? [`it watches ${watched.length} namespaces: OLM v1 watches all or one`] : []),
    ...badNames.map((text) => `OLM v1 refuses the name ${quoted(text)}`),
  ];
}

function bundleObstacles(
  { package: of, installed, catalog }: ClusterInstallation,
  ofPackage: Package | undefined,
  bundle: Bundle | undefined,
): string[] {
  if (!ofPackage)
    return [`no catalog has package ${quoted(of)}${catalog === '' ? '' : ` (subscribed from ${catalog})`}`];
  if (!installed) return ['nothing is installed yet'];
  if (!bundle)
    return [`the catalog no longer has ${installed.name}, so OLM v1 cannot install the same version`];
  return [...gatedSupport(bundle).obstacles];
}

function extensionOptions(
  { name, namespace, package: of, channels: [channel], installed, subscription }: ClusterInstallation,
  bundle: Bundle | undefined,
  ofPackage: Package | undefined,
) {
  const [first] = subscription?.watches ?? [];
  const watched = first ?? (bundle && gatedSupport(bundle).needsNamespace ? namespace : undefined);
  const config = subscription?.config;
  return {
    name,
    namespace,
    package: of,
    channel: channel ?? ofPackage?.defaultChannel ?? '',
    ...(installed?.version ? { version: versionText(installed) } : {}),
    ...(watched === undefined ? {} : { watched }),
    ...(config === undefined ? {} : { deployment: withoutSelector(config) as Json }),
  };
}

/** OLM v1 knows no `selector` in the settings of deployments, and refuses what it does not know; OLM v0 never read it. */
function withoutSelector(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { selector: _, ...rest } = config;
  return rest;
}

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
