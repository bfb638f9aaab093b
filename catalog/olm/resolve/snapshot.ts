/**
 * Catalogs as OLM v0's resolver sees them: one node for each bundle in each channel.
 */
import type { Cel } from '../../fbc/cel/cel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Bundle, Catalog, Entry, Package } from '../../fbc/model.ts';
import { namingOf } from '../../fbc/naming.ts';
import { groupedBy } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { compareText } from '../../go/text.ts';
import { Undecided } from '../../undecided.ts';
import type { Version } from '../../version/version.ts';
import { type Offer, offerOf } from './requirement.ts';

export type { Offer } from './requirement.ts';

/** The catalogs that a namespace of a cluster sees. */
export interface Scope {
  readonly catalogs: readonly ScopeCatalog[];
  /** Evaluates rules in CEL; without it a catalog that has such a rule is undecided. */
  readonly cel?: Cel | undefined;
  /** Whether what a bundle depends on is taken to be there, in catalogs that are not known. */
  readonly assumesDependencies?: boolean;
  /** Remaining budget for resolving dependencies; unlimited if absent. */
  readonly effort?: Effort;
}

/** Bundles, and bundles that they may need, that the resolver may still look at. */
interface Effort {
  left: number;
}

/**
 * Counts what resolving dependencies costs.
 *
 * @throws Undecided where it costs more than it may, in this resolution and in those before it
 */
export function spendEffort(scope: Scope, cost: number): void {
  const { effort } = scope;
  if (!effort) return;
  effort.left -= cost;
  if (effort.left < 0) throw tooEntangled(scope);
}

export function tooEntangled({ catalogs }: Scope): Undecided {
  return undecidedBetween(catalogs, 'bundles require each other in more ways than are tried');
}

export function undecidedBetween(catalogs: Scope['catalogs'], why: string): Undecided {
  return new Undecided(`dependencies in ${catalogs.map(({ name }) => name).join(', ')}`, why);
}

/** A CatalogSource or ClusterCatalog on a cluster. */
export interface ScopeCatalog {
  readonly name: string;
  /** Namespace of the CatalogSource; OLM v1 has none. */
  readonly namespace: string;
  readonly priority: number;
  readonly catalog: Catalog;
  /** Whether its pod answers: `opm serve` refuses a catalog in which any package is invalid. */
  readonly serving: boolean;
  /** Labels of the ClusterCatalog. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A bundle in one channel. */
export interface Node extends Pick<Entry, 'name' | 'replaces' | 'skips'> {
  readonly package: string;
  readonly channel: string;
  readonly isDefaultChannel: boolean;
  readonly version: Version | undefined;
  readonly offer: Offer;
  /** Both undefined for what is installed. */
  readonly entry: Entry | undefined;
  readonly bundle: Bundle | undefined;
}

/** A channel of a package as the resolver sees it: its nodes, and their order of preference or why they have none. */
export interface Lane {
  readonly package: string;
  readonly channel: string;
  readonly isDefaultChannel: boolean;
  readonly nodes: readonly Node[];
  readonly candidates: Candidates<Node>;
  /** All entries of the channel, in its order. */
  readonly entries: readonly Entry[];
  /** Entries whose bundles are not in the catalog. */
  readonly withoutBundle: readonly Entry[];
}

interface Lanes {
  readonly all: readonly Lane[];
  readonly byChannel: ReadonlyMap<string, Lane>;
}

/** The lanes of a package: the default channel first, the others by name. */
export function lanesOf(ofPackage: Package): readonly Lane[] {
  return lanesIn(ofPackage).all;
}

/** The lane of a channel. */
export function laneOf(ofPackage: Package, channel: string): Lane | undefined {
  return lanesIn(ofPackage).byChannel.get(channel);
}

const lanesIn = onceFor((ofPackage: Package): Lanes => {
  const all = [...ofPackage.channels.values()]
    .map((channel) => laneWith(ofPackage, channel.name, channel.entries))
    .sort(
      (a, b) => Number(b.isDefaultChannel) - Number(a.isDefaultChannel) || compareText(a.channel, b.channel),
    );
  return { all, byChannel: new Map(all.map((lane) => [lane.channel, lane])) };
});

/** The lane that was made last of a list of entries, with the bundles that it is of. */
const lastLanes = new WeakMap<
  readonly Entry[],
  { readonly bundles: Package['bundles']; readonly lane: Lane }
>();

/** The lane of these entries, made once for a list: a trial changes one channel of a hundred. */
function laneWith(ofPackage: Package, channel: string, entries: readonly Entry[]): Lane {
  const { name, bundles, defaultChannel } = ofPackage;
  const known = lastLanes.get(entries);
  const isSame =
    known?.bundles === bundles &&
    known.lane.package === name &&
    known.lane.channel === channel &&
    known.lane.isDefaultChannel === (channel === defaultChannel);
  if (isSame) return known.lane;
  const lane = makeLane(ofPackage, channel, entries);
  lastLanes.set(entries, { bundles, lane });
  return lane;
}

/**
 * A channel as OLM v0 sees it: entries with a bundle, and of these the candidates for upgrades, which no other entry with
 * a bundle skips.
 */
function makeLane(ofPackage: Package, channel: string, entries: readonly Entry[]): Lane {
  const isDefaultChannel = channel === ofPackage.defaultChannel;
  const nodes = entries.flatMap((entry): Node | [] => {
    const bundle = ofPackage.bundles.get(entry.name);
    if (!bundle) return [];
    const { name, replaces, skips } = entry;
    const { version } = bundle;
    const offer = offerOfBundle(bundle);
    return {
      name,
      package: ofPackage.name,
      channel,
      isDefaultChannel,
      replaces,
      skips,
      version,
      offer,
      entry,
      bundle,
    };
  });
  const withoutBundle = entries.filter(({ name }) => !ofPackage.bundles.has(name));
  const { skipping } = namingOf(entries);
  const hasBundle = entries.map(({ name }) => ofPackage.bundles.has(name));
  const candidates = candidatesOf(nodes, (name) => skipping(name).some((position) => hasBundle[position]));
  return { package: ofPackage.name, channel, isDefaultChannel, nodes, candidates, entries, withoutBundle };
}

const nodesByName = onceFor(({ nodes }: Lane) => groupedBy(nodes, ({ name }) => name));

/** The nodes of a lane that have a name, but for one of them. */
export function nodesNamed(lane: Lane, name: string, except?: Node): readonly Node[] {
  return (nodesByName(lane).get(name) ?? []).filter((node) => node !== except);
}

const offers = new WeakMap<
  Bundle['properties'],
  Pick<Bundle, 'package' | 'version'> & { readonly offer: Offer }
>();

/** The offer of a bundle, from its properties: the resolver never sees its manifests. */
export function offerOfBundle(bundle: Bundle): Offer {
  const { package: name, version, properties: all } = bundle;
  // Bundles that are read from the same text share their properties.
  const known = offers.get(all);
  if (known?.package === name && known.version === version) return known.offer;
  const properties = all.filter(({ type }) => type !== 'olm.bundle.object' && type !== 'olm.csv.metadata');
  const offer = offerOf(properties, { package: name, version });
  offers.set(all, { package: name, version, offer });
  return offer;
}

/** The offer of an installed bundle. If the package no longer has it, only its name and version are known. */
export function offerOfInstalled(ofPackage: Package | undefined, name: string, installed: Installed): Offer {
  const bundle = ofPackage?.bundles.get(installed.name);
  return bundle ? offerOfBundle(bundle) : offerOf([], { package: name, version: installed.version });
}

// A channel as OLM v0's resolver sees it: the entries that it may install, those closest
// to the head first. This is not the channel that `opm validate` sees: an entry that
// any other skips is never offered, though the chain of replacements runs on through it.
//
// @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (sortChannel)

type Candidates<E> =
  | { readonly kind: 'ordered'; readonly entries: readonly E[] }
  | { readonly kind: 'no-head' }
  | { readonly kind: 'cycle'; readonly head: string }
  /** Names of the entries that nothing replaces or skips. */
  | { readonly kind: 'many-heads'; readonly heads: readonly string[] };

/** Whether any of the entries skips a name. */
type IsSkipped = (name: string) => boolean;

/**
 * Orders the entries of one channel, or of a part of it, from the head down the chain of `replaces`. A cycle is looked for
 * before several heads because OLM v0 does so: it reports the first that it finds.
 */
export function candidatesOf<E extends Pick<Entry, 'name' | 'replaces' | 'skips'>>(
  entries: readonly E[],
  isSkipped: IsSkipped = skippedBy(entries),
): Candidates<E> {
  if (entries.length === 0) return { kind: 'ordered', entries };
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const replaced = new Set(entries.map(({ replaces }) => replaces).filter((name) => name !== ''));
  const heads = entries.filter(({ name }) => !isSkipped(name) && !replaced.has(name));
  if (heads.length === 0) return { kind: 'no-head' };
  const chain = new Set<E>();
  for (const head of heads) {
    const hasEnd = addChain(head, byName, chain);
    if (!hasEnd) return { kind: 'cycle', head: head.name };
  }
  if (heads.length > 1) return { kind: 'many-heads', heads: heads.map(({ name }) => name) };
  // The chain runs on through skipped entries, but they are never offered.
  return { kind: 'ordered', entries: [...chain].filter(({ name }) => !isSkipped(name)) };
}

function skippedBy(entries: readonly Pick<Entry, 'skips'>[]): IsSkipped {
  const skipped = new Set<string>();
  for (const { skips } of entries) for (const name of skips) skipped.add(name);
  return (name) => skipped.has(name);
}

/** Adds what is replaced below a head to the chain; false when it comes back to where it was. */
function addChain<E extends Pick<Entry, 'replaces'>>(
  head: E,
  byName: ReadonlyMap<string, E>,
  chain: Set<E>,
): boolean {
  const own = new Set<E>();
  for (let at: E | undefined = head; at; at = at.replaces === '' ? undefined : byName.get(at.replaces)) {
    if (own.has(at)) return false;
    // A chain that joins another head's chain ends, as that one does.
    if (chain.has(at)) return true;
    own.add(at);
    chain.add(at);
  }
  return true;
}

/** Heads that a text names: it is said of each version of the channel. */
const NAMED = 20;

/** Why a channel has no order, in the resolver's words. */
export function disorderText(candidates: Candidates<unknown>, channel: string, ofPackage: string): string {
  const where = `channel ${JSON.stringify(channel)} of package ${JSON.stringify(ofPackage)}`;
  switch (candidates.kind) {
    case 'ordered':
      return '';
    case 'no-head':
      return `no channel heads (entries not replaced by another entry) found in ${where}`;
    case 'cycle':
      return `a cycle exists in the chain of replacement beginning with ${JSON.stringify(candidates.head)} in ${where}`;
    case 'many-heads': {
      const { heads } = candidates;
      const more = heads.length > NAMED ? ` and ${heads.length - NAMED} more` : '';
      return `a unique replacement chain within a channel is required to determine the relative order between channel entries, but ${heads.length} replacement chains were found in ${where}: ${heads.slice(0, NAMED).join(', ')}${more}`;
    }
  }
}
