/** What a ClusterExtension for a Subscription says, or what OLM v1 has no place for. */
import type { ExtensionOptions } from '../../../catalog/bundle/extension.ts';
import type { Installed } from '../../../catalog/fbc/edge.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { isDnsLabel, isDnsSubdomain, quoted } from '../../../catalog/names.ts';
import { manifestsOfBundle } from '../../../catalog/olm/manifests.ts';
import { gatedSupport } from '../../../catalog/olm/resolve/support.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import { type ClusterInstallation, type ClusterObject, textAt, valueAt } from '../../check/cluster.ts';
import { type ClusterCatalogs, type ServedCatalog, scopeOf } from './cluster-catalogs.ts';
import { dropsConfig, managesNamespaces } from './cluster-view.ts';
import type { CheckRow } from './library-olm.ts';
import { pinOf, type Wanted } from './pin.ts';

export interface ExtensionPlan {
  /** Why OLM v1 cannot install it. */
  readonly obstacles: readonly string[];
  readonly notes: readonly string[];
  /** The ClusterExtension, and the catalog that it is taken from; absent where none means the same. */
  readonly asked?: {
    readonly options: ExtensionOptions & { readonly channel: string };
    readonly home: ServedCatalog;
  };
}

interface PlanContext {
  readonly ground: ClusterCatalogs;
  readonly subscription: ClusterObject;
  /** The catalog of the Subscription; undefined where it was not given. */
  readonly source: ServedCatalog | undefined;
  /** library-olm's, of this Subscription. */
  readonly checks: readonly CheckRow[];
}

/** The ClusterExtension for an installation of OLM v0, or the obstacles to it. */
export function planExtension(one: ClusterInstallation, around: PlanContext): ExtensionPlan {
  const { source, checks, ground } = around;
  // A catalog that stands for every CatalogSource has, in `source`, the name of this Subscription's one.
  const served = source && (source.sources === undefined ? [source] : ground.served);
  const { installed } = one;
  const found = served && installed && pinOf(scopeOf(served, one.package), wantedOf(one, installed, source));
  // What was found is a pin, or else why there is none.
  const pin = found && 'version' in found ? found : undefined;
  // The catalog of the pin; without a pin, that of the Subscription.
  const home = served?.find(({ name }) => name === pin?.source.name) ?? source;
  const bundle = installed && home?.read.catalog.packages.get(one.package)?.bundles.get(installed.name);
  const { watched, why } = watchedBy(one, around, bundle);
  const support = bundle ? gatedSupport(bundle).obstacles : [];
  // That a pin is missing is an obstacle of its own only for a bundle that OLM v1 supports and a catalog has: else C7 says so.
  const isThere =
    bundle !== undefined || checks.some(({ check, result }) => check === 'C7' && result === 'pass');
  const unpinned = found && 'why' in found && support.length === 0 && isThere ? [found.why] : [];
  const config = settingsOf(one.subscription?.config);
  const settings = [
    ...unknownSettings(one.subscription?.config),
    ...((config ?? watched) !== undefined && dropsConfig(ground.view)
      ? [
          "the cluster's ClusterExtensions have no spec.config, so its settings would be dropped: OLM v1 needs its experimental API",
        ]
      : []),
  ];
  const obstacles = [...nameObstacles(one), ...why, ...support, ...unpinned, ...settings];
  // What library-olm never moves gets no ClusterExtension. C1a is about operators that cannot watch all namespaces: OLM v1 could
  // install them for the one that they watch.
  const isHard = checks.some(
    ({ result, override, check }) => result === 'refused' && override === undefined && check !== 'C1a',
  );
  if (isHard || obstacles.length > 0 || !pin || !home) return { obstacles, notes: [] };
  const managed = isManaged(one, around);
  const options = {
    name: one.name,
    namespace: one.namespace,
    package: one.package,
    channel: pin.channel,
    version: pin.version,
    ...(isAmongSeveral(ground) ? { catalog: home.name } : {}),
    ...(watched === undefined ? {} : { watched }),
    ...(config === undefined ? {} : { deployment: config as Json }),
    ...(managed ? { managedNamespace: true } : {}),
  };
  return { obstacles, notes: notesOf(one, around, { pin, managed }), asked: { options, home } };
}

/** What a version pin must lead to: the installed bundle, from the Subscription's channel and catalog if possible. */
function wantedOf(
  { package: packageName, channels }: ClusterInstallation,
  installed: Installed,
  source: ServedCatalog,
): Wanted {
  return {
    package: packageName,
    installed,
    channel: channels[0] ?? '',
    preferred: source.name,
  };
}

/** What an admin should know of the ClusterExtension: where it is different from the Subscription. */
function notesOf(
  one: ClusterInstallation,
  { source, checks }: PlanContext,
  {
    pin,
    managed,
  }: {
    readonly pin: { readonly source: { readonly name: string }; readonly channel: string };
    readonly managed: boolean;
  },
): string[] {
  const [asked] = one.channels;
  const available = checks.find(({ check, result }) => check === 'C7' && result === 'pass')?.reason;
  // The text ends with the name of the catalog.
  const chosen = available?.replace(/.* /, '');
  return [
    ...(pin.source.name === source?.name
      ? []
      : [`the installed bundle is only in ClusterCatalog ${pin.source.name}`]),
    ...(asked === undefined || asked === pin.channel
      ? []
      : [
          `only channel ${pin.channel} pins the installed build: set channels to [${asked}] again for upgrades`,
        ]),
    ...(chosen === undefined || chosen === pin.source.name
      ? []
      : [`library-olm selects ClusterCatalog ${chosen}, which has the version and a higher priority`]),
    ...(one.subscription?.config?.['selector'] === undefined
      ? []
      : ['Subscription spec.config.selector is not supported by OLMv1 and will be dropped during migration']),
    ...(managed
      ? ['spec.namespace is left out: this OLM v1 manages the namespace, and suggests the same one']
      : []),
  ];
}

/** Whether a ClusterExtension must say which catalog it means: others may have the package, too. */
function isAmongSeveral({ view, moved, served }: ClusterCatalogs): boolean {
  const names = new Set([
    // The only catalog that was given stands for those that the cluster has.
    ...served.flatMap(({ name, sources }) => (sources === undefined ? [] : [name])),
    ...moved.flatMap(({ name }) => (name === '' ? [] : [name])),
    ...view.all('ClusterCatalog').map((one) => textAt(one, 'metadata', 'name')),
  ]);
  return names.size > 1;
}

/** A sentence for each name that is valid under OLM v0, and that a ClusterExtension must not have. */
function nameObstacles({ package: packageName, name, namespace, channels }: ClusterInstallation): string[] {
  const wrong = [packageName, name, ...channels].filter((text) => !isDnsSubdomain(text));
  return [...wrong, ...(isDnsLabel(namespace) ? [] : [namespace])].map(
    (text) => `OLM v1 refuses the name ${quoted(text)}`,
  );
}

/** The namespace that the operator would watch under OLM v1: one, or undefined for all. `why` says why there is none. */
function watchedBy(
  { namespace, subscription }: ClusterInstallation,
  { ground }: PlanContext,
  bundle: Bundle | undefined,
): { readonly watched?: string; readonly why: readonly string[] } {
  const watches = subscription?.watches ?? targetsIn(ground, namespace);
  if (watches.length > 1)
    return { why: [`it watches ${watches.length} namespaces: OLM v1 watches all or one`] };
  // Undefined where the catalog does not say them: OLM v1 then decides.
  const modes = bundle && manifestsOfBundle(bundle).csv?.installModes;
  const [only] = watches;
  const watched = only ?? (bundle && gatedSupport(bundle).needsNamespace ? namespace : undefined);
  if (watched === undefined) return { why: [] };
  const mode = watched === namespace ? 'OwnNamespace' : 'SingleNamespace';
  return !modes || modes.has(mode)
    ? { watched, why: [] }
    : { why: [`it does not support the install mode ${mode}, so it cannot watch ${watched} alone`] };
}

/** What the OperatorGroup says where OLM v0 has not noted it at the ClusterServiceVersion. */
function targetsIn({ view }: ClusterCatalogs, namespace: string): readonly string[] {
  // OLM v0 installs nothing in a namespace with several.
  const [group] = view.all('OperatorGroup', namespace);
  const targets = valueAt(group, 'spec', 'targetNamespaces');
  return Array.isArray(targets) ? targets.filter((name) => typeof name === 'string') : [];
}

/** The settings of deployments that OLM v1 knows: those of OLM v0 without `selector`, which OLM v0 never read. */
const SETTINGS: ReadonlySet<string> = new Set([
  'affinity',
  'annotations',
  'env',
  'envFrom',
  'nodeSelector',
  'resources',
  'tolerations',
  'volumeMounts',
  'volumes',
]);

/** The settings of a Subscription that OLM v1 takes over; undefined if there are none. */
function settingsOf(config: Readonly<Record<string, unknown>> | undefined): object | undefined {
  const kept = Object.entries(config ?? {}).filter(([name]) => SETTINGS.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Settings for which OLM v1 would refuse the ClusterExtension. */
function unknownSettings(config: Readonly<Record<string, unknown>> | undefined): string[] {
  return Object.keys(config ?? {})
    .filter((name) => name !== 'selector' && !SETTINGS.has(name))
    .map((name) => `OLM v1 refuses the setting ${quoted(name)} in spec.config`);
}

/**
 * Whether OLM v1 manages namespaces on this cluster, and would choose the operator's current one: by the ClusterServiceVersion's
 * template, its suggestion, or the package's name, in this order.
 */
function isManaged(
  { namespace, package: packageName, installed }: ClusterInstallation,
  { ground }: PlanContext,
): boolean {
  if (!installed || !managesNamespaces(ground.view)) return false;
  const csv = ground.view.one('ClusterServiceVersion', namespace, installed.name);
  const suggested = (name: string): string =>
    textAt(csv, 'metadata', 'annotations', `operatorframework.io/suggested-namespace${name}`);
  const template = textAt(parsedJson(suggested('-template')), 'metadata', 'name');
  const systemName = `${packageName}-system`;
  const chosen = template || suggested('') || (isDnsLabel(systemName) ? systemName : '');
  return chosen === namespace;
}
