/**
 * The world of a check: what every rule reads from, and all that it can know. It holds the packages that a pull request
 * touches in every catalog of the repository, before and after the merge, and what was ever published of them.
 * `changes` makes what rules are given: each catalog with those that clusters come from and go to.
 */
import { type Bundle, type Catalog, catalogOf, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import {
  type Change,
  changeOf,
  type PublicationsOf,
  type PublishedBundle,
  type PublishingCatalog,
  publicationsIn,
  type World,
  type WorldOptions,
  worldOf,
} from '../../../catalog/olm/foresight/world.ts';
import type { PublishedSet } from '../../../catalog/olm/published-set.ts';
import type { TagDigests } from '../../../catalog/references/same-image.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Sides } from './bundle-manifests.ts';
import type { Companions } from './companions.ts';
import { joinedCatalog } from './context.ts';
import type { Published, Since } from './published.ts';
import { type BeforeAndAfter, catalogIn, type Member, type TouchedCatalog } from './touched-catalog.ts';

/** What is known of a repository: without a part of it, rules take that there is none. */
export interface RepositoryWorld {
  readonly policy: Policy;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** The touched packages in all catalogs of the repository, touched or not, in the order of platform upgrades. */
  readonly everywhere?: ReadonlyMap<string, BeforeAndAfter<Catalog>>;
  /** Other catalogs of the same clusters, by catalog. */
  readonly companions?: Companions['of'];
  /** What was ever published, by catalog and package, where that is known. */
  readonly published?: Published;
  readonly since?: Since;
  /** Catalogs of which clusters may have nothing but that. */
  readonly released?: ReadonlySet<string>;
  /** CRDs and manifests of bundles whose catalogs do not hold them, in each state. */
  readonly lookups?: Sides;
  /** Sets of operators that are published to be installed together. */
  readonly installSets?: BeforeAndAfter<readonly PublishedSet[]>;
  /** What references of bundles' images must begin with, a list for each gate that says so. */
  readonly bundleRegistries?: readonly (readonly string[])[];
  /** What the base's tags are known to stand for. */
  readonly digests?: TagDigests;
}

/** What changes in one of several catalogs that change alike. */
export interface MemberChange {
  readonly member: Member;
  readonly change: Change;
}

/** The changes of catalogs that change alike, with what surrounds each of them. */
export async function changesIn(touched: TouchedCatalog, world: RepositoryWorld): Promise<MemberChange[]> {
  const names = touched.names.filter((name) => !world.released?.has(name));
  const published = publishedIn(names, touched.packages, world.published);
  const shared: Shared = {
    world,
    packages: touched.packages,
    published,
    worlds: new Map(),
    publications: { before: publicationsOf(world, 'before'), after: publicationsOf(world, 'after') },
    states: { before: stateOf(touched, 'before'), after: stateOf(touched, 'after') },
  };
  // Of a bundle that the base did not define, the look-up knows nothing; of one without CRDs, it gives an empty list.
  const wasDefined = (bundle: Bundle): boolean => world.lookups?.before.crds(bundle) !== undefined;
  return Promise.all(
    touched.members.map(async (member) => {
      const [before, after] = await Promise.all([
        optionsOf(member, 'before', shared),
        optionsOf(member, 'after', shared),
      ]);
      return { member, change: await changeOf(before, after, wasDefined) };
    }),
  );
}

type Side = keyof BeforeAndAfter<unknown>;

/** The touched packages on one side of the merge; an empty catalog where the catalog is not there. */
function stateOf(touched: TouchedCatalog, side: Side): Catalog {
  const state = touched[side];
  return state ? catalogIn(state) : NOTHING;
}

const NOTHING = catalogOf(NO_BLOBS);

/** What catalogs that change alike have in common. */
interface Shared {
  readonly world: RepositoryWorld;
  readonly packages: ReadonlySet<string>;
  /** What the branch ever had, by package, in those of them whose releases nobody looks up. */
  readonly published: Map<string, PublishedBundle[]>;
  /** What all catalogs of the repository have and had under a bundle's name. */
  readonly publications: BeforeAndAfter<PublicationsOf>;
  /** The touched packages. */
  readonly states: BeforeAndAfter<Catalog>;
  /** Catalogs that follow or precede any of them, by name and state, made once. */
  readonly worlds: Map<string, Map<Catalog, Promise<World>>>;
}

/**
 * What the world of one catalog is made from, before or after the merge. Of catalogs that its clusters go to, only the
 * content counts; of those that they come from also the past, because clusters there may run any version of it.
 */
async function optionsOf(
  { name, following, preceding, predecessors, context }: Member,
  when: Side,
  shared: Shared,
): Promise<WorldOptions> {
  const { world, packages, published, states, publications } = shared;
  const companions = world.companions?.get(name)?.[when];
  return {
    ...clustersOf(name, world),
    ...world.lookups?.[when],
    ...(companions ? { companions } : {}),
    // The touched packages in full, and the rest of the catalog in outline.
    catalog: joinedCatalog([states[when], context[when]]),
    packages,
    predecessors,
    rebuildsHeads: world.policy.graph.rebuilds === 'heads',
    since: (packageName) => firstDay(world.since?.get(name), packageName),
    ...(world.digests ? { digests: world.digests } : {}),
    ...(world.installSets ? { installSets: world.installSets[when] } : {}),
    following: await Promise.all(following.map((next) => followingWorld(next.name, next[when], shared))),
    preceding: await Promise.all(preceding.map((other) => precedingWorld(other, when, shared))),
    // Otherwise only this catalog's own publications are known, and `worldOf` takes them from `published`.
    ...(world.everywhere ? { publications: publications[when] } : {}),
    ...(world.released?.has(name) ? releasedIn(name, shared) : { published }),
  };
}

/**
 * The first day of a package. Under an empty name are files that never changed since: nobody read which
 * packages they have.
 */
function firstDay(days: ReadonlyMap<string, string> = new Map(), name: string): string | undefined {
  return days.get(name) ?? days.get('');
}

/** The clusters that use a catalog, and what its gates allow. */
function clustersOf(
  name: string,
  { policy, today, bundleRegistries = [] }: RepositoryWorld,
): Pick<WorldOptions, 'name' | 'olm' | 'asOf' | 'platform' | 'bundleRegistries'> {
  const platform = minorOfCatalog(name);
  return { name, olm: policy.graph.olm, asOf: today, bundleRegistries, ...(platform ? { platform } : {}) };
}

/** What was released of a catalog: its clusters have nothing else. */
function releasedIn(
  name: string,
  { world, packages }: Shared,
): Pick<WorldOptions, 'published' | 'publishedIsAll'> {
  return { published: publishedIn([name], packages, world.published), publishedIsAll: true };
}

/** The world of a catalog to which clusters go with an update of the platform. It has only the packages that change. */
function followingWorld(name: string, catalog: Catalog, { world, worlds }: Shared): Promise<World> {
  // Equal content in several catalogs is one object: each of them is a world of its own.
  return madeOnce(worlds, name, catalog, () =>
    worldOf({ ...clustersOf(name, world), catalog, isWhole: false }),
  );
}

/**
 * The world of a catalog from which clusters come with an update of the platform. It has only the packages that change.
 */
function precedingWorld(name: string, when: Side, shared: Shared): Promise<World> {
  const { world, packages, worlds } = shared;
  const catalog = world.everywhere?.get(name)?.[when] ?? NOTHING;
  const published = world.released?.has(name)
    ? releasedIn(name, shared)
    : { published: publishedIn([name], packages, world.published) };
  return madeOnce(worlds, `${when} ${name}`, catalog, () =>
    worldOf({
      ...clustersOf(name, world),
      ...world.lookups?.[when],
      ...published,
      packages,
      catalog,
      // It has only the touched packages.
      isWhole: false,
    }),
  );
}

/** A world of this name and catalog that was made before, or a new one, which is kept. */
function madeOnce(
  worlds: Shared['worlds'],
  name: string,
  catalog: Catalog,
  make: () => Promise<World>,
): Promise<World> {
  const ofName = worlds.get(name) ?? new Map<Catalog, Promise<World>>();
  worlds.set(name, ofName);
  const made = ofName.get(catalog) ?? make();
  ofName.set(catalog, made);
  return made;
}

/** What all catalogs have in one state, and what they had. */
function publicationsOf({ everywhere, published, released }: RepositoryWorld, when: Side): PublicationsOf {
  const catalogs = [...(everywhere ?? [])].map(
    ([name, sides]): PublishingCatalog => ({
      name,
      catalog: sides[when],
      published: published?.get(name) ?? new Map(),
      ...(released?.has(name) ? { publishedIsAll: true } : {}),
    }),
  );
  return publicationsIn(catalogs);
}

/** What was ever published of packages in any of some catalogs, which change alike. */
function publishedIn(
  names: readonly string[],
  packages: ReadonlySet<string>,
  published: Published = new Map(),
): Map<string, PublishedBundle[]> {
  const ever = new Map<string, PublishedBundle[]>();
  for (const name of packages) {
    const all = names.flatMap((catalog) => published.get(catalog)?.get(name) ?? []);
    const latest = new Map<string, PublishedBundle>();
    for (const bundle of all) {
      const key = JSON.stringify([bundle.channel, bundle.name]);
      const known = latest.get(key);
      if (!known || (known.last ?? '') < (bundle.last ?? '')) latest.set(key, bundle);
    }
    ever.set(name, [...latest.values()]);
  }
  return ever;
}
