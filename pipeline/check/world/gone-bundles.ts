/**
 * Bundles that their catalogs no longer have, nor any near one with its manifests, from which clusters may still upgrade:
 * their manifests decide whether these upgrades are safe. Of the past only outlines are read; those from which upgrades
 * lead are read as a whole.
 */
import type { Bundle, Catalog, Entry, Package } from '../../../catalog/fbc/model.ts';
import { lacksManifests } from '../../../catalog/olm/outline.ts';
import { offerOfBundle } from '../../../catalog/olm/resolve/snapshot.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import { compareVersions, tryParseRange } from '../../../catalog/version/version.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Limits } from '../../policy/policy.ts';
import type { CheckReport } from '../report.ts';
import { type PastBundle, type Published, wholeBundles } from './published.ts';
import type { BeforeAndAfter } from './touched-catalog.ts';

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
export async function readGoneBundles(
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
