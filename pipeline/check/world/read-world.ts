/** Reads what is known of a repository: the past of its catalogs, their companions, and the manifests of bundles. */

import { readManifestFile } from '../../../catalog/bundle/manifest.ts';
import type { Bundle, Catalog, Entry, Package } from '../../../catalog/fbc/model.ts';
import { lacksManifests } from '../../../catalog/olm/outline.ts';
import { type PublishedSet, publishedSet } from '../../../catalog/olm/published-set.ts';
import { offerOfBundle } from '../../../catalog/olm/resolve/snapshot.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import { compareVersions, tryParseRange } from '../../../catalog/version/version.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Limits, Policy } from '../../policy/policy.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { Registry } from '../../ports.ts';
import type { CheckReport } from '../report.ts';
import type { Asked } from '../request.ts';
import { type OwnManifests, ownManifests } from './bundle-manifests.ts';
import type { LoadedCatalogs } from './catalogs.ts';
import { readCompanions } from './companions.ts';
import type { ContextReport } from './context.ts';
import { joinedPast, type PastRequest, pastOf } from './publication-history.ts';
import { type PastBundle, type Published, wholeBundles } from './published.ts';
import type { CheckScene } from './scene.ts';
import type { BeforeAndAfter } from './touched-catalog.ts';
import type { RepositoryWorld } from './world.ts';

/** What the world is read from, beside the objects of the repository. */
export interface WorldSources
  extends Asked<'historyOf' | 'digests' | 'crds' | 'manifests'>,
    Pick<RepositoryWorld, 'today'>,
    Pick<PastRequest, 'kept'> {
  /** For released images and companions; without it they are not read. */
  readonly registry: Registry | undefined;
  readonly store: Store | undefined;
}

interface ReadWorld extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly world: RepositoryWorld;
}

type Loaded = Pick<LoadedCatalogs, 'touched' | 'others'>;

/** Reads what is known of a repository about the packages that a change touches. */
export async function readWorld(
  repository: Repository,
  { scene, touched, others }: Loaded & { readonly scene: CheckScene },
  { today, digests, registry, store, historyOf, kept, ...sources }: WorldSources,
): Promise<ReadWorld> {
  const { objects, policy, trees } = scene;
  const past = { base: trees.base, policy, registry, store, historyOf, kept };
  const catalogs = touched.flatMap(({ names }) => names);
  const [own, elsewhere, companions, sets] = await Promise.all([
    pastOf(repository, { ...past, touched }),
    pastOf(repository, { ...past, touched: untouchedCatalogs({ touched, others }), what: PAST_ELSEWHERE }),
    readCompanions({ objects, trees, policy, catalogs, registry, store }),
    readInstallSets(scene),
  ]);
  const published = joinedPast(elsewhere.published, own.published);
  const isAsked = readsManifests(policy);
  const gone = isAsked
    ? await readGoneBundles(objects, published, { everywhere: others.everywhere, limits: policy.limits })
    : { published, bundles: [], unchecked: [] };
  // The caller's lookups, or none where no rule asks; else the repository's own bundle directories are read.
  const given = sources.crds || !isAsked ? sources : undefined;
  const manifests = given
    ? manifestsGiven(given)
    : await ownManifests(scene, [...touched, ...others.neighbors], gone.bundles);
  return {
    world: {
      policy,
      today,
      everywhere: others.everywhere,
      companions: companions.of,
      published: gone.published,
      since: joinedPast(elsewhere.since, own.since),
      released: new Set([...elsewhere.released, ...own.released]),
      lookups: manifests.sides,
      installSets: sets.sets,
      ...(digests ? { digests } : {}),
    },
    unchecked: [
      own.unread,
      elsewhere.unread,
      gone.unchecked,
      manifests.unchecked,
      companions.unchecked,
      sets.unchecked,
    ].flat(),
    incomplete: companions.incomplete ?? sets.incomplete,
  };
}

const PAST_ELSEWHERE = 'earlier published versions in the other catalogs';

/** The catalogs that a change does not touch, where they have the packages that it touches. */
function untouchedCatalogs({ touched, others }: Loaded): PastRequest['touched'] {
  const known = new Set(touched.flatMap(({ places }) => places.map(({ path }) => path)));
  const packages = new Set(touched.flatMap((catalog) => [...catalog.packages]));
  const places = others.places.filter(({ path }) => !known.has(path));
  const names = [...new Set(places.map(({ catalog }) => catalog))];
  return places.length === 0 ? [] : [{ names, packages, places }];
}

/** Looks manifests up as the caller says, on both sides, in place of the repository's own. A lookup that is not given knows nothing. */
function manifestsGiven({
  crds = unknownOfBundle,
  manifests = unknownOfBundle,
}: Partial<WorldSources>): OwnManifests {
  const given = { crds, manifests };
  return { sides: { before: given, after: given }, unchecked: [] };
}

function unknownOfBundle(_: Bundle): undefined {
  return undefined;
}

/** Whether any rule looks at manifests. */
function readsManifests(policy: Policy): boolean {
  const severityOf = severitiesOf(policy);
  return RULES.some((rule) => rule.reads?.includes('manifests') && severityOf(rule) !== 'off');
}

// The sets of operators that the policy names, before and after a change.

interface InstallSets extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly sets: BeforeAndAfter<readonly PublishedSet[]>;
}

/** Reads the published install sets before and after the merge. A set that the merge removes is no longer published. */
async function readInstallSets({
  objects,
  policy,
  trees,
}: Pick<CheckScene, 'objects' | 'policy' | 'trees'>): Promise<InstallSets> {
  const [before, after]: [PublishedSet[], PublishedSet[]] = [[], []];
  const unread: { what: string; why: string }[] = [];
  for (const path of policy.graph.installSets) {
    const [was, is] = [await setAt(trees.base), await setAt(trees.merged)];
    if (was && 'file' in was) before.push(was);
    if (is && 'file' in is) after.push(is);
    else if (is) unread.push({ what: `whether the set ${path} can still be installed`, why: is.why });

    async function setAt(tree: string): Promise<PublishedSet | { readonly why: string } | undefined> {
      const entry = await entryAt(objects, tree, path);
      if (!entry) return undefined;
      const why = whyUnreadable(entry.mode);
      if (why !== undefined) return { why };
      const size = (await objects.info(entry.id))?.size ?? 0;
      if (size > policy.limits.fileBytes) return { why: 'the file is larger than limits.fileBytes' };
      const bytes = await sourceFile(objects, { ...entry, path }).read();
      return publishedSet(readManifestFile(path, bytes));
    }
  }
  const [first] = unread;
  return { sets: { before, after }, unchecked: unread, incomplete: first && `${first.what}: ${first.why}` };
}

// Bundles that their catalogs no longer have, nor any near one with its manifests, from which clusters may still upgrade:
// their manifests decide whether these upgrades are safe. Of the past only outlines are read; those from which upgrades
// lead are read as a whole.

/** Bundles of one package that are read as a whole, those that entries name first. */
const MOST_BUNDLES = 24;

type Edges = Pick<Entry, 'replaces' | 'skips' | 'skipRange'>;

interface GoneBundles {
  /** What was published, with the bundles that were read in place of their outlines. */
  readonly published: Published;
  /** The bundles from which upgrades lead, whole where their file has them. */
  readonly bundles: readonly Bundle[];
  readonly unchecked: CheckReport['unchecked'];
}

/** Finds the bundles that are gone and from which upgrades lead, and reads them. */
async function readGoneBundles(
  objects: ObjectReader,
  published: Published,
  {
    everywhere,
    limits,
  }: { readonly everywhere: ReadonlyMap<string, BeforeAndAfter<Catalog>>; readonly limits: Limits },
): Promise<GoneBundles> {
  const names = new Set([...published.values()].flatMap((packages) => [...packages.keys()]));
  const wanted = [...names].map((name) => ({ name, ...goneIn(name, published, everywhere) }));
  const gone = wanted.flatMap((one) => one.gone);
  const whole = new Map((await wholeBundles(objects, gone, limits)).map((bundle) => [keyOf(bundle), bundle]));
  const replaced = (one: PastBundle): PastBundle => {
    const bundle = one.bundle && whole.get(keyOf(one.bundle));
    return bundle ? { ...one, bundle } : one;
  };
  return {
    published: new Map(
      [...published].map(([catalog, packages]) => [
        catalog,
        new Map([...packages].map(([name, bundles]) => [name, bundles.map(replaced)])),
      ]),
    ),
    bundles: gone.flatMap(({ bundle }) => (bundle ? [whole.get(keyOf(bundle)) ?? bundle] : [])),
    unchecked: wanted.flatMap(({ name, left }) => (left > 0 ? [uncheckedOf(name, left)] : [])),
  };
}

function uncheckedOf(name: string, left: number): CheckReport['unchecked'][number] {
  return {
    what: `whether custom resources of package ${JSON.stringify(name)} survive upgrades from ${left} versions that their catalogs no longer have`,
    why: `only ${MOST_BUNDLES} such bundles are read`,
  };
}

function keyOf({ package: packageName, name }: Bundle): string {
  return `${packageName}\n${name}`;
}

/**
 * The bundles of a package that are gone and from which entries upgrade, directly or by way of others that are gone. Only
 * those with CRDs count: without any, no custom resource can be lost in the upgrade.
 */
function goneIn(
  name: string,
  published: Published,
  everywhere: ReadonlyMap<string, BeforeAndAfter<Catalog>>,
): { readonly gone: PastBundle[]; readonly left: number } {
  const inCatalog = (sides: BeforeAndAfter<Catalog> | undefined): Package[] =>
    sides ? [sides.before, sides.after].flatMap(({ packages }) => packages.get(name) ?? []) : [];
  const own = [...everywhere.values()].flatMap(inCatalog);
  // What distant catalogs have is known in outline.
  const whole = new Set(own.flatMap(({ bundles }) => [...bundles.values()].filter(isWhole)).map(nameOf));
  const past = new Map<string, PastBundle>();
  for (const [catalog, packages] of published) {
    const present = new Set(inCatalog(everywhere.get(catalog)).flatMap(({ bundles }) => [...bundles.keys()]));
    for (const one of packages.get(name) ?? []) {
      const isThere = whole.has(one.name) || present.has(one.name) || past.has(one.name);
      if (!isThere && one.bundle && offerOfBundle(one.bundle).gvks.length > 0) past.set(one.name, one);
    }
  }
  // The highest versions first: the oldest ones are beyond the limit.
  const latest = [...past.values()].sort((a, b) => compareVersionsOf(b, a));
  const found = new Set<PastBundle>();
  const follow = (edges: readonly Edges[]): void => {
    for (const one of latest)
      if (!found.has(one) && edges.some((edge) => isBefore(one, edge))) found.add(one);
  };
  follow(own.flatMap(({ channels }) => [...channels.values()].flatMap(({ entries }) => entries)));
  // What is added while a set is gone through is gone through as well.
  for (const { entry } of found) if (entry) follow([entry]);
  return { gone: [...found].slice(0, MOST_BUNDLES), left: Math.max(0, found.size - MOST_BUNDLES) };
}

/** Whether a bundle has its manifests; of one in outline they are unknown. */
function isWhole(bundle: Bundle): boolean {
  return !lacksManifests(bundle);
}

function nameOf({ name }: Bundle): string {
  return name;
}

/** Orders bundles by version; unknown versions come first. */
function compareVersionsOf({ version: a }: PastBundle, { version: b }: PastBundle): number {
  return a && b ? compareVersions(a, b) : Number(a !== undefined) - Number(b !== undefined);
}

/** Whether an entry upgrades what is installed. */
function isBefore({ name, version }: PastBundle, { replaces, skips, skipRange }: Edges): boolean {
  if (replaces === name || skips.includes(name)) return true;
  const range = skipRange === '' ? undefined : tryParseRange(skipRange);
  return version !== undefined && range !== undefined && satisfies(version, range);
}
