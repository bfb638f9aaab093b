/**
 * Who is worse off after a merge. Slow and obvious: it asks for every installation that there can be, before and after,
 * and shares no code with the rules.
 */
import { gt, lt, satisfies } from 'semver';
import {
  type Catalog,
  type Entry,
  headsOf,
  imageOf,
  type Package,
  PROVIDER,
  type State,
  versionsOf,
} from './repository-state.ts';

/** A version that somebody installed; without a channel, OLM takes what any channel has. */
export interface Installation {
  readonly catalog: string;
  readonly package: string;
  readonly channel: string;
  readonly version: string;
  readonly olm: 'v0' | 'v1';
}

/** In which way an installation is worse off. */
export type Harm =
  | 'fails'
  | 'lost'
  | 'downgrade'
  | 'lower end'
  | 'new and stuck'
  | 'other platform'
  | 'other content';

export interface WorseOff extends Installation {
  readonly harm: Harm;
}

/** What OLM does with an installation in the end. */
interface End {
  /** Where it ends; undefined if resolution fails. */
  readonly version: string | undefined;
  readonly next: string | undefined;
  readonly atHead: boolean;
}

/** @param states all that the base branch was, the newest last */
export function worseOff(states: readonly State[], after: State): WorseOff[] {
  const before = states.at(-1) ?? {};
  const all = installationsIn(states);
  const moved = all.flatMap((one) => {
    const harm = harmTo(one, before, after);
    return harm ? [{ ...one, harm }] : [];
  });
  const known = new Set(all.map((one) => JSON.stringify(one)));
  const stuck = installationsIn([after])
    .filter((one) => !known.has(JSON.stringify(one)) && !endOf(after[one.catalog] ?? {}, one).atHead)
    .filter(
      (one) => !(isKnownProblem(one, all, before) && (one.olm === 'v1' || waitsForProvider(one, after))),
    )
    .map((one) => ({ ...one, harm: 'new and stuck' as const }));
  return [...moved, ...stuck, ...otherContents(states, after)];
}

/** Whether the package has the same problem already, with the version from another channel: nobody has the new channel. */
function isKnownProblem(one: Installation, all: readonly Installation[], before: State): boolean {
  return all.some(
    (other) =>
      other.catalog === one.catalog &&
      other.package === one.package &&
      other.version === one.version &&
      other.olm === one.olm &&
      !endOf(before[one.catalog] ?? {}, other).atHead,
  );
}

/** Whether an installation would get to the head if nothing were required. */
function waitsForProvider(one: Installation, state: State): boolean {
  const catalog = state[one.catalog] ?? {};
  const free = Object.entries(catalog).map(([name, of]) => [name, { ...of, requires: {} }]);
  return endOf(Object.fromEntries(free), one).atHead;
}

function installationsIn(states: readonly State[]): Installation[] {
  const found = states.flatMap((state) =>
    Object.entries(state).flatMap(([catalog, packages]) =>
      Object.entries(packages).flatMap(([name, { channels }]) =>
        Object.entries(channels).flatMap(([channel, entries]) =>
          entries.flatMap(({ version }) =>
            waysToInstall(packages, { catalog, package: name, channel, version }),
          ),
        ),
      ),
    ),
  );
  return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
}

/** With either OLM, with the channel selected or none. */
function waysToInstall(catalog: Catalog, one: Omit<Installation, 'olm'>): Installation[] {
  return (['v0', 'v1'] as const)
    .map((olm) => ({ ...one, olm }))
    .filter((way) => isInstallable(catalog, way))
    .flatMap((way) => [way, { ...way, channel: '' }]);
}

/** OLM v0 installs what a bundle requires as well; OLM v1 installs nothing that requires anything. */
function isInstallable(catalog: Catalog, { package: name, version, olm }: Installation): boolean {
  const required = catalog[name]?.requires[version];
  return required === undefined || (olm === 'v0' && isMet(catalog, required));
}

function harmTo(one: Installation, before: State, after: State): Harm | undefined {
  const was = endOf(before[one.catalog] ?? {}, one);
  const is = endOf(after[one.catalog] ?? {}, one);
  if (was.next === undefined) return undefined;
  if (is.next === undefined) return 'fails';
  if (was.next !== one.version && is.next === one.version) return 'lost';
  if (was.version === undefined) return undefined;
  if (is.version === undefined) return 'fails';
  if (lt(is.next, one.version) && !lt(was.next ?? '', one.version)) return 'downgrade';
  if (was.atHead && !is.atHead) return 'lost';
  // Without a channel, OLM v0 takes the default one: another default must not lead to less.
  const [old, now] = [before, after].map((state) => state[one.catalog]?.[one.package]?.defaultChannel);
  if (one.channel === '' && one.olm === 'v0' && old !== now && lt(is.version, was.version))
    return 'lower end';
  // Who was below the head and gets on now meets what those at the head met before.
  const isLost =
    was.atHead &&
    platformsAfter(one.catalog, before).some(
      (next) =>
        arrivesIn(next, before, { ...one, version: was.version ?? '' }) &&
        !arrivesIn(next, after, { ...one, version: is.version ?? '' }),
    );
  return isLost ? 'other platform' : undefined;
}

/** The next catalog that there is, if any. */
function platformsAfter(catalog: string, state: State): string[] {
  const names = Object.keys(state).filter((name) => Object.keys(state[name] ?? {}).length > 0);
  return names.slice(names.indexOf(catalog) + 1).slice(0, 1);
}

function arrivesIn(catalog: string, state: State, one: Installation): boolean {
  return endOf(state[catalog] ?? {}, one).atHead;
}

/** Follows the upgrades of an installation until there are no more. */
function endOf(catalog: Catalog, one: Installation): End {
  const first = nextOf(catalog, one);
  let version: string | undefined = one.version;
  for (let steps = 0; steps < 20; steps++) {
    const to = nextOf(catalog, { ...one, version });
    if (to === undefined) return { version: undefined, next: first, atHead: false };
    if (to === version) return { version, next: first, atHead: isHead(catalog, one, version) };
    version = to;
  }
  return { version, next: first, atHead: false };
}

function isHead(catalog: Catalog, { package: name, channel }: Installation, version: string): boolean {
  const one = catalog[name];
  if (!one) return false;
  const heads = selected(one, channel).flatMap(([, entries]) => headsOf(entries));
  return heads.some((head) => head.version === version);
}

/** The version that OLM has next: the same if there is no upgrade, undefined if it reports an error. */
function nextOf(catalog: Catalog, one: Installation): string | undefined {
  const ofPackage = catalog[one.package];
  const channels = ofPackage ? selected(ofPackage, one.channel) : [];
  if (!ofPackage || channels.length === 0) return undefined;
  return one.olm === 'v0'
    ? nextUnderV0(catalog, ofPackage, { version: one.version, channels })
    : nextUnderV1(ofPackage, { version: one.version, channels });
}

type Channels = readonly (readonly [string, readonly Entry[]])[];

/** The default channel comes first, then the others by name. */
function selected({ channels, defaultChannel }: Package, channel: string): Channels {
  const rank = (name: string): string => (name === defaultChannel ? '' : name);
  return Object.entries(channels)
    .filter(([name]) => channel === '' || name === channel)
    .sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
}

interface Asked {
  readonly version: string;
  readonly channels: Channels;
}

/** OLM v0 takes the candidate that is nearest to the head, of those whose requirements it can meet. */
function nextUnderV0(catalog: Catalog, { requires }: Package, { version, channels }: Asked): string {
  const candidates = channels.flatMap(([, entries]) => unskipped(entries));
  const fitting = candidates.filter(
    (entry) => leadsFrom(entry, version) && isMet(catalog, requires[entry.version]),
  );
  return fitting[0]?.version ?? version;
}

/** From the head down along `replaces`, without what any entry skips. */
function unskipped(entries: readonly Entry[]): Entry[] {
  const skipped = entries.flatMap(({ skips = [] }) => skips);
  const chain: Entry[] = [];
  for (let [one] = headsOf(entries); one && !chain.includes(one); ) {
    chain.push(one);
    const { replaces }: Entry = one;
    one = entries.find((entry) => entry.version === replaces);
  }
  return chain.filter((entry) => !skipped.includes(entry.version));
}

function leadsFrom({ replaces, skips = [], skipRange }: Entry, version: string): boolean {
  return (
    replaces === version ||
    skips.includes(version) ||
    (skipRange !== undefined && satisfies(version, skipRange))
  );
}

function isMet(catalog: Catalog, range: string | undefined): boolean {
  if (range === undefined) return true;
  const offered = Object.values(catalog[PROVIDER]?.channels ?? {}).flatMap(unskipped);
  return offered.some(({ version }) => satisfies(version, range));
}

/**
 * OLM v1 takes the highest version that is not deprecated, of those that lead from what is installed and that itself,
 * and reports an error if there is none, or if that has requirements.
 */
function nextUnderV1({ requires, deprecated }: Package, { version, channels }: Asked): string | undefined {
  const fitting = channels
    .flatMap(([, entries]) => entries)
    .filter((entry) => entry.version === version || leadsFrom(entry, version))
    .map((entry) => entry.version)
    .sort((a, b) => Number(deprecated.includes(a)) - Number(deprecated.includes(b)) || (gt(a, b) ? -1 : 1));
  const [best] = fitting;
  return best === undefined || requires[best] !== undefined ? undefined : best;
}

/** Bundles that are something else than what their name stood for: in their catalog, or, if they are new there, anywhere. */
function otherContents(states: readonly State[], after: State): WorseOff[] {
  const before = states.at(-1) ?? {};
  const imagesIn = (all: readonly State[], name: string, version: string, catalog?: string): string[] =>
    all.flatMap((state) =>
      Object.entries(state).flatMap(([of, { [name]: one }]) =>
        one && versionsOf(one).includes(version) && of === (catalog ?? of)
          ? [imageOf(name, one, version)]
          : [],
      ),
    );
  return Object.entries(after).flatMap(([catalog, packages]) =>
    Object.entries(packages).flatMap(([name, one]) =>
      versionsOf(one)
        .filter((version) => {
          const image = imageOf(name, one, version);
          const [was] = imagesIn([before], name, version, catalog);
          if (was !== undefined) return was !== image;
          const [here, anywhere, now] = [
            imagesIn(states, name, version, catalog),
            imagesIn(states, name, version),
            imagesIn([after], name, version),
          ];
          if (anywhere.length === 0) return now.some((other) => other !== image);
          return !anywhere.includes(image) || (here.length > 0 && !here.includes(image));
        })
        .map((version) => ({
          ...{ catalog, package: name, channel: '', version },
          ...{ olm: 'v0' as const, harm: 'other content' as const },
        })),
    ),
  );
}
