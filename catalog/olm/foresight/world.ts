/**
 * What surrounds a catalog on clusters, and what was ever installed from it: everything
 * that decides what a change of the catalog does to them.
 */
import { type Crd, crdsOfBundle } from '../../crd/crd.ts';
import { type Cel, loadCel } from '../../fbc/cel/cel.ts';
import type { Installed } from '../../fbc/edge.ts';
import {
  type Bundle,
  type Catalog,
  catalogOf,
  type Entry,
  NO_BLOBS,
  type Package,
  type Property,
} from '../../fbc/model.ts';
import type { Minor } from '../../fbc/openshift.ts';
import { onceFor } from '../../go/once.ts';
import type { TagDigests } from '../../references/same-image.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { type Manifests, manifestsOfBundle } from '../manifests.ts';
import type { PublishedSet } from '../published-set.ts';
import type { Scope, ScopeCatalog } from '../resolve/snapshot.ts';
import { type Foresight, foresightOf, stepsOf, type UpgradePath } from './foresight.ts';

/** The generations of OLM. */
export type Olm = 'v0' | 'v1';

export interface World {
  /** Name of the catalog, such as `v4.20`. */
  readonly name: string;
  readonly catalog: Catalog;
  /** Packages to check; all without it. */
  readonly packages: ReadonlySet<string> | undefined;
  /** Whether the catalog is known with all its packages: what a part of it lacks may be in the rest. */
  readonly isWhole: boolean;
  /** What the clusters run that use the catalog. */
  readonly olm: ReadonlySet<Olm>;
  readonly foresight: Foresight;
  /**
   * Whether other catalogs of the clusters are known. Without them what is depended on and is not in the
   * catalog is taken to be in one of those.
   */
  readonly hasCompanions: boolean;
  /** These catalogs, by name. */
  readonly companions: ReadonlyMap<string, Catalog>;
  /** Whether it may still be changed: for what is wrong in a state that is gone, no fix is sought. */
  readonly isCurrent: boolean;
  /** What was ever published in the catalog, by package. */
  readonly published: ReadonlyMap<string, readonly PublishedBundle[]>;
  /** The first day on which the catalog had a package, as `2026-01-31`; undefined where it is unknown. */
  readonly since: (name: string) => string | undefined;
  readonly isPublished: IsPublished;
  /** Whether the heads of channels may be rebuilt, because another pipeline releases them later. */
  readonly rebuildsHeads: boolean;
  /** The day of the check, as `2026-01-31`: how long ago something was published matters. */
  readonly asOf: string | undefined;
  /** The platform's version whose clusters use the catalog. */
  readonly platform: Minor | undefined;
  /** The catalogs of the platform's next versions, the nearest first. */
  readonly following: readonly World[];
  /** The catalogs of the platform's previous versions, the nearest first: their clusters come here. */
  readonly preceding: readonly World[];
  /** Where the catalog is new: the whole catalogs of the previous versions, the nearest first, whose clusters will come here. */
  readonly predecessors: readonly Predecessor[];
  readonly publications: PublicationsOf;
  /** Sets of operators that are published to be installed together under OLM v1. */
  readonly installSets: readonly PublishedSet[];
  readonly crds: CrdsOf;
  /** What tags are known to stand for. */
  readonly digests: TagDigests;
  /** What is known of a bundle's manifests. */
  readonly manifests: (bundle: Bundle) => Manifests;
  /** What references of bundles' images must begin with, a list for each gate that says so. */
  readonly bundleRegistries: readonly (readonly string[])[];
}

/** A catalog by its name, with all its packages, in outline. */
export interface Predecessor {
  readonly name: string;
  readonly catalog: Catalog;
}

/** The CRDs of a bundle; undefined where they are unknown. */
export type CrdsOf = (bundle: Bundle) => readonly Crd[] | undefined;

/** A bundle's manifests; undefined where they are unknown. */
export type ManifestsOf = (bundle: Bundle) => Manifests | undefined;

/** What a catalog has, or once had, under the name of a bundle. */
export interface Publication {
  readonly catalog: string;
  /** Empty where it is unknown. */
  readonly image: string;
  /** Undefined where it is unknown. */
  readonly version: Version | undefined;
  /** The whole bundle, or its outline; undefined where only the names are known. */
  readonly bundle: Bundle | undefined;
  /** The last day on which the catalog had it, as `2026-01-31`; absent while it has it, and where it is unknown. */
  readonly last?: string;
}

/** Finds what all catalogs of the repository have and had under a bundle's name, as far as it could be read. */
export type PublicationsOf = (of: {
  readonly package: string;
  readonly bundle: string;
}) => readonly Publication[];

/** A bundle that was once an entry of a channel. */
export interface PublishedBundle {
  readonly channel: string;
  readonly name: string;
  /** Undefined where it is unknown. */
  readonly version: Version | undefined;
  /** The last day on which the catalog had it, as `2026-01-31`; absent where it is unknown. */
  readonly last?: string;
  /** The last day on which it was the head of the channel before another one; absent where that is unknown. */
  readonly headUntil?: string;
  /** Its image, where that is known. */
  readonly image?: string;
  /** Its entry in the channel, where that is known. */
  readonly entry?: Pick<Entry, 'replaces' | 'skips' | 'skipRange'>;
  /** The bundle in outline, where that is known. */
  readonly bundle?: Bundle;
}

export interface WorldOptions {
  readonly name: string;
  readonly catalog: Catalog;
  readonly packages?: ReadonlySet<string>;
  /** Whether the catalog is known with all its packages; it is without it. */
  readonly isWhole?: boolean;
  readonly olm?: readonly Olm[];
  /** Whether it may still be changed; it may without it. */
  readonly isCurrent?: boolean;
  /** Other catalogs of the same clusters, by name. */
  readonly companions?: ReadonlyMap<string, Catalog>;
  readonly published?: ReadonlyMap<string, readonly PublishedBundle[]>;
  readonly since?: World['since'];
  /** Whether `published` has everything that clusters may have: what only the catalog has was never published. */
  readonly publishedIsAll?: boolean;
  /** Whether the heads of channels may be rebuilt until they are released. */
  readonly rebuildsHeads?: boolean;
  readonly asOf?: string;
  readonly platform?: Minor;
  readonly following?: readonly World[];
  readonly preceding?: readonly World[];
  readonly predecessors?: readonly Predecessor[];
  /** What the catalogs have and had under a bundle's name; that of this catalog alone without it. */
  readonly publications?: PublicationsOf;
  readonly installSets?: readonly PublishedSet[];
  /** CRDs of bundles whose manifests the catalog does not hold. */
  readonly crds?: CrdsOf;
  /** What tags stand for, as a merged lock or a registry says. */
  readonly digests?: TagDigests;
  /** Manifests of bundles of which the catalog has at most the metadata. */
  readonly manifests?: ManifestsOf;
  /** What references of bundles' images must begin with, a list for each gate that says so. */
  readonly bundleRegistries?: readonly (readonly string[])[];
}

/** What resolving the dependencies of one catalog may cost: real ones need less than a hundredth of it. */
export const MOST_EFFORT = 1_000_000;

/** Makes the world of one catalog: everything that rules and simulations read. */
export async function worldOf(options: WorldOptions): Promise<World> {
  const { name, catalog, companions = new Map<string, Catalog>(), olm = ['v0', 'v1'] } = options;
  const { published = new Map<string, PublishedBundle[]>() } = options;
  const source = scopeCatalog(name, catalog);
  const others = [...companions].map(([other, its]) => scopeCatalog(other, its));
  const catalogs = [source, ...others];
  const scope: Scope = {
    catalogs,
    cel: await celFor(catalogs),
    assumesDependencies: others.length === 0,
    effort: { left: MOST_EFFORT },
  };
  return {
    name,
    catalog,
    packages: options.packages,
    isWhole: options.isWhole ?? true,
    olm: new Set(olm),
    foresight: foresightOf(scope, source),
    hasCompanions: others.length > 0,
    companions,
    isCurrent: options.isCurrent ?? true,
    published,
    since: options.since ?? (() => undefined),
    isPublished: options.publishedIsAll ? onlyPublished(published) : ALL_PUBLISHED,
    rebuildsHeads: options.rebuildsHeads ?? false,
    asOf: options.asOf,
    platform: options.platform,
    digests: options.digests ?? new Map(),
    bundleRegistries: options.bundleRegistries ?? [],
    following: options.following ?? [],
    preceding: options.preceding ?? [],
    predecessors: options.predecessors ?? [],
    publications:
      options.publications ??
      publicationsIn([{ name, catalog, published, publishedIsAll: options.publishedIsAll ?? false }]),
    installSets: options.installSets ?? [],
    crds: (bundle) => crdsOfBundle(bundle) ?? options.crds?.(bundle),
    manifests: (bundle) => {
      // A catalog with only the metadata knows less than the bundle's image.
      const ownManifests = manifestsOfBundle(bundle);
      return ownManifests.objects ? ownManifests : (options.manifests?.(bundle) ?? ownManifests);
    },
  };
}

/** A catalog with what was ever published in it. */
export interface PublishingCatalog {
  readonly name: string;
  readonly catalog: Catalog;
  readonly published: ReadonlyMap<string, readonly PublishedBundle[]>;
  /** Whether `published` has everything that clusters may have. */
  readonly publishedIsAll?: boolean;
}

/** Looks bundles up in catalogs: what each has, then what it had, the latest first. */
export function publicationsIn(catalogs: readonly PublishingCatalog[]): PublicationsOf {
  return ({ package: packageName, bundle: name }) =>
    catalogs.flatMap(({ name: catalog, catalog: { packages }, published, publishedIsAll }): Publication[] => {
      const bundle = packages.get(packageName)?.bundles.get(name);
      const past = (published.get(packageName) ?? []).filter((one) => one.name === name);
      // If everything published is known, what only the catalog has was never published.
      const isHere = bundle && (!publishedIsAll || past.length > 0);
      const now = isHere ? [{ catalog, image: bundle.image, version: bundle.version, bundle }] : [];
      return [...now, ...past.map((one) => pastPublication(catalog, one))];
    });
}

function pastPublication(
  catalog: string,
  { image = '', version, bundle, last }: PublishedBundle,
): Publication {
  return { catalog, image, version, bundle, ...(last === undefined ? {} : { last }) };
}

/** Catalogs are foreseen as if they were served: what keeps them from it is found by other rules. */
function scopeCatalog(name: string, catalog: Catalog): ScopeCatalog {
  return { name, namespace: 'olm', priority: 0, catalog, serving: true };
}

/** CEL, if any bundle has a rule in it. */
export async function celFor(catalogs: readonly Pick<ScopeCatalog, 'catalog'>[]): Promise<Cel | undefined> {
  const all = catalogs.flatMap(({ catalog }) => [...catalog.packages.values()]);
  return all.some(hasRule) ? loadCel() : undefined;
}

const hasRule = onceFor(({ bundles }: Package): boolean =>
  [...bundles.values()].some(({ properties }) => properties.some(isRule)),
);

/** Whether a property holds a rule in CEL. Go reads its key in any case. */
function isRule({ type, value }: Property): boolean {
  return type === 'olm.constraint' && /"cel"\s*:/i.test(JSON.stringify(value));
}

/** The packages of a world to check. */
export const checkedPackages: (world: World) => readonly Package[] = onceFor(({ catalog, packages }) =>
  [...catalog.packages.values()].filter(({ name }) => packages === undefined || packages.has(name)),
);

/** The bundles of these packages, and those that name no package. */
export const checkedBundles: (world: World) => readonly Bundle[] = onceFor(({ catalog, packages }) => {
  const isChecked = (name: string): boolean => name === '' || (packages?.has(name) ?? true);
  return catalog.blobs.bundles.filter((bundle) => isChecked(bundle.package));
});

/** A change of a catalog. */
export interface Change {
  readonly before: World;
  readonly after: World;
  /** Packages that the change may touch, in the order of names. */
  readonly packages: readonly string[];
  /** Whether a bundle was in the repository before in another form, such as a directory. */
  readonly existed: (bundle: Bundle) => boolean;
}

/** The change between two states; without one of them, the catalog is new or gone. */
export async function changeOf(
  before: WorldOptions | undefined,
  after: WorldOptions | undefined,
  existed: Change['existed'] = () => false,
): Promise<Change> {
  const nothing = catalogOf(NO_BLOBS);
  const [was, is] = await Promise.all([
    worldOf({ ...(before ?? { name: after?.name ?? '', catalog: nothing }), isCurrent: false }),
    worldOf(after ?? { name: before?.name ?? '', catalog: nothing }),
  ]);
  const wanted = after?.packages ?? before?.packages;
  const all = new Set([...was.catalog.packages.keys(), ...is.catalog.packages.keys()]);
  const packages = [...all].filter((name) => wanted?.has(name) ?? true).sort();
  return { before: was, after: is, packages, existed };
}

/**
 * Where clusters had a package before a change: in the same catalog or, where the package is new there, in that of the
 * platform's previous version. What was wrong there already is not new.
 */
export function formerWorld({ before }: Pick<Change, 'before'>, name: string): World {
  const hasIt = ({ catalog }: World): boolean => (catalog.packages.get(name)?.channels.size ?? 0) > 0;
  return hasIt(before) ? before : (before.preceding.find(hasIt) ?? before);
}

/** Under which OLM, and from which channels, an installation gets its upgrades. */
export interface Following {
  readonly olm: Olm;
  readonly package: string;
  /** The channel of a subscription; under OLM v1 it counts with `onlyChannel` alone. */
  readonly channel: string;
  /** Under OLM v1, whether the extension selects the channel, instead of all. */
  readonly onlyChannel?: boolean;
}

/** The upgrade path of an installation that is subscribed, or selects channels. */
export function upgradePathOf(
  foresight: Foresight,
  { olm, package: name, channel, onlyChannel = false }: Following,
  installed: Installed,
): UpgradePath {
  return olm === 'v0'
    ? foresight.v0({ package: name, channel }, installed)
    : foresight.v1({ package: name, channels: onlyChannel ? [channel] : [] }, installed);
}

/**
 * The bundle at which an installation's path ends. For a circle it is the lowest version in it, because clusters have
 * that one as often as any other.
 */
export function lowestEndOf(foresight: Foresight, following: Following, installed: Installed): Installed {
  const { end, last } = upgradePathOf(foresight, following, installed);
  if (last.kind !== 'circle') return end;
  const steps = stepsOf((from) => upgradePathOf(foresight, following, from), end);
  const circle = steps.flatMap((step) => (step.kind === 'upgrade' ? [step.to] : []));
  return circle.reduce((lowest, one) => (isLower(one, lowest) ? one : lowest), end);
}

function isLower({ version: one }: Installed, { version: other }: Installed): boolean {
  return one !== undefined && other !== undefined && compareVersions(one, other) < 0;
}

/** A bundle, a channel or a whole package: what is left out is not asked about. */
interface Publishable {
  readonly package: string;
  readonly channel?: string;
  readonly bundle?: string;
}

/** Whether clusters may have it. */
type IsPublished = (of: Publishable) => boolean;

/** What a catalog has counts as published. */
export const ALL_PUBLISHED: IsPublished = () => true;

/** Tells which bundles were published, by a list of them, whatever channel of the package they are in. */
function onlyPublished(published: ReadonlyMap<string, readonly PublishedBundle[]>): IsPublished {
  const names = new Map(
    [...published].map(([name, bundles]) => [
      name,
      {
        channels: new Set(bundles.map(({ channel }) => channel)),
        bundles: new Set(bundles.map((bundle) => bundle.name)),
      },
    ]),
  );
  return ({ package: name, channel, bundle }) => {
    const known = names.get(name);
    return (
      known !== undefined &&
      known.bundles.size > 0 &&
      (channel === undefined || known.channels.has(channel)) &&
      (bundle === undefined || known.bundles.has(bundle))
    );
  };
}
