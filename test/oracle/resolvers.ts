/** What OLM does with an installation, as slowly and obviously as can be: no code of the rules is used. */
import { type Crd, harmsObjects, losesStored } from './custom-resources.ts';
import {
  byVersion,
  type Catalog,
  type Entry,
  headsOf,
  isIn,
  otherOf,
  type Package,
  type State,
} from './repository-state.ts';

/** A version that somebody installed; without a channel, OLM takes what any channel has. */
export interface Installation {
  readonly catalog: string;
  readonly package: string;
  readonly channel: string;
  readonly version: string;
  readonly olm: 'v0' | 'v1';
  /** Versions of the CRD in which the cluster may have stored objects. */
  readonly stored: readonly string[];
}

/** A state, and the CRDs of all bundles that there ever were. */
export interface View {
  readonly state: State;
  readonly crdOf: (of: Pick<Installation, 'catalog' | 'package' | 'version'>) => Crd | undefined;
}

/** What OLM does next. */
export type Step =
  | { readonly kind: 'stays' | 'fails' | 'refused' }
  | { readonly kind: 'upgrade'; readonly to: Installation; readonly drops: boolean; readonly harms: boolean };

/** Where an installation ends. */
export interface Walk {
  readonly next: Step;
  /** Undefined if resolution fails, or an upgrade is refused, on the way; the lowest version of a circle. */
  readonly end: Installation | undefined;
  readonly atHead: boolean;
  /** Whether an upgrade on the way no longer has the CRD. */
  readonly drops: boolean;
  /** Whether an upgrade on the way may harm objects. */
  readonly harms: boolean;
}

/** Follows the upgrades of an installation until there are no more. */
export function walk(view: View, one: Installation): Walk {
  const next = stepOf(view, one);
  const found = { next, drops: false, harms: false };
  let at = one;
  for (let steps = 0; steps < 20; steps++) {
    const step = stepOf(view, at);
    if (step.kind === 'stays') return { ...found, end: at, atHead: isHead(view, at) };
    if (step.kind !== 'upgrade') return { ...found, end: undefined, atHead: false };
    found.drops ||= step.drops;
    found.harms ||= step.harms;
    at = step.to;
  }
  return { ...found, end: lowestInCircle(view, at), atHead: false };
}

/** Who goes in a circle is at its lowest version as often as at its highest. */
function lowestInCircle(view: View, one: Installation): Installation {
  let lowest = one;
  for (let step = stepOf(view, one); step.kind === 'upgrade'; step = stepOf(view, step.to)) {
    if (byVersion(step.to.version, lowest.version) < 0) lowest = step.to;
    if (step.to.version === one.version) break;
  }
  return lowest;
}

export function stepOf(view: View, one: Installation): Step {
  const to = nextOf(view.state[one.catalog] ?? {}, one);
  if (to === undefined) return { kind: 'fails' };
  if (to === one.version) return { kind: 'stays' };
  const [before, after] = [one.version, to].map((version) => view.crdOf({ ...one, version }));
  const stored = [
    ...new Set([...(after && before ? one.stored : []), ...(after ? [after.stored] : [])]),
  ].sort();
  const harms = before !== undefined && after !== undefined && harmsObjects(before, after);
  if (before && after && losesStored(one.stored, after)) return { kind: 'refused' };
  if (harms && one.olm === 'v1') return { kind: 'refused' };
  const drops = before !== undefined && after === undefined;
  return { kind: 'upgrade', to: { ...one, version: to, stored }, drops, harms };
}

function isHead({ state }: View, { catalog, package: name, channel, version }: Installation): boolean {
  const one = state[catalog]?.[name];
  const heads = one ? selected(one, channel).flatMap(([, entries]) => headsOf(entries)) : [];
  return heads.some((head) => head.version === version);
}

/** The version that OLM has next: the same if there is no upgrade, undefined if it reports an error. */
export function nextOf(catalog: Catalog, one: Omit<Installation, 'stored'>): string | undefined {
  const ofPackage = catalog[one.package];
  const channels = ofPackage ? selected(ofPackage, one.channel) : [];
  if (!ofPackage || channels.length === 0) return undefined;
  return one.olm === 'v0'
    ? (candidatesUnderV0(catalog, one)[0] ?? one.version)
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

/** What OLM v0 may take, that which it prefers first: what is nearest to the head, if its requirements can be met. */
export function candidatesUnderV0(
  catalog: Catalog,
  { package: name, channel, version }: Pick<Installation, 'package' | 'channel' | 'version'>,
): string[] {
  const ofPackage = catalog[name];
  const candidates = ofPackage
    ? selected(ofPackage, channel).flatMap(([, entries]) => unskipped(entries))
    : [];
  return candidates
    .filter((entry) => leadsFrom(entry, version) && isMet(catalog, name, entry.version))
    .map((entry) => entry.version);
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
    replaces === version || skips.includes(version) || (skipRange !== undefined && isIn(version, skipRange))
  );
}

/** Whether the catalog, or another one of the clusters, has what a version requires, which may require the version in turn. */
export function isMet(catalog: Catalog, name: string, version: string): boolean {
  const range = catalog[name]?.requires[version];
  if (range === undefined) return true;
  const { [otherOf(name)]: provider } = catalog;
  if (catalog[name]?.isProvidedElsewhere) return true;
  return Object.values(provider?.channels ?? {})
    .flatMap(unskipped)
    .some((entry) => isIn(entry.version, range) && allows(provider, entry.version, version));
}

/** Whether a version of a package works with one of the other package. */
export function allows(one: Package | undefined, version: string, other: string): boolean {
  const range = one?.requires[version];
  return range === undefined || isIn(other, range);
}

/**
 * OLM v1 takes the highest version that is not deprecated, of those that lead from what is installed and that itself,
 * and reports an error if there is none, or if that has requirements.
 */
function nextUnderV1(
  { requires, deprecated }: Package,
  { version, channels }: { readonly version: string; readonly channels: Channels },
): string | undefined {
  const [best] = channels
    .flatMap(([, entries]) => entries)
    .filter((entry) => entry.version === version || leadsFrom(entry, version))
    .map((entry) => entry.version)
    .sort((a, b) => Number(deprecated.includes(a)) - Number(deprecated.includes(b)) || byVersion(b, a));
  return best === undefined || requires[best] !== undefined ? undefined : best;
}

/** Views of states that follow each other: bundles that are gone keep the CRDs that they had. */
export function viewOf(state: State, states: readonly State[]): View {
  const known = new Map<string, Crd | undefined>();
  for (const [catalog, packages] of states.flatMap((one) => Object.entries(one)))
    for (const [name, { channels, crds }] of Object.entries(packages))
      for (const { version } of Object.values(channels).flat()) {
        known.set(`${name} ${version}`, crds?.[version]);
        known.set(`${catalog} ${name} ${version}`, crds?.[version]);
      }
  return {
    state,
    crdOf: ({ catalog, package: name, version }) => {
      const own = `${catalog} ${name} ${version}`;
      return known.has(own) ? known.get(own) : known.get(`${name} ${version}`);
    },
  };
}
