/**
 * Foresight: for every installation of a catalog's packages, what happens next and where
 * the upgrade path ends. Each bundle is looked at once, so that asking for all of them costs
 * little more than asking for one.
 */
import { firstAlike, headOf, headsOf, selectedIn } from '../../fbc/channel.ts';
import { type Installed, installedOf, versionText } from '../../fbc/edge.ts';
import { type Bundle, type Catalog, NO_BLOBS, type Package } from '../../fbc/model.ts';
import { isSameVersion } from '../../version/version.ts';
import { hasRequirements, nextV0, type Place } from '../resolve/next-v0.ts';
import { nextV1, type Selection } from '../resolve/next-v1.ts';
import type { Fails, Outcome, Stays } from '../resolve/outcome.ts';
import { lanesOf, type Scope, type ScopeCatalog } from '../resolve/snapshot.ts';
import { nextWithoutChannel } from './without-channel.ts';

/** The upgrade path of an installation: its next step and its end. */
export interface UpgradePath {
  readonly next: Outcome;
  /** The bundle at which the upgrade path ends; for a circle the first one of it. */
  readonly end: Installed;
  /** Why it goes no further; `circle` where each bundle leads to the next for ever. */
  readonly last: Stays | Fails | { readonly kind: 'circle' };
  /** How many upgrades it takes; up to the circle where there is one. */
  readonly hops: number;
  /** Whether the end is a head: of the subscribed channel, or of any selected one. */
  readonly arrives: boolean;
}

export interface Foresight {
  readonly scope: Scope;
  readonly source: ScopeCatalog;
  /** Of a subscription under OLM v0; an empty channel is none. */
  readonly v0: (place: Place, installed: Installed) => UpgradePath;
  /** Of an extension under OLM v1. */
  readonly v1: (selection: Selection, installed: Installed) => UpgradePath;
}

/**
 * What OLM will do with installations from one catalog. What operators require is looked for in all catalogs of the
 * scope.
 */
export function foresightOf(scope: Scope, source: ScopeCatalog): Foresight {
  const all = new Map<string, OlmWalks>();
  const inScope = walksIn(scope, source);
  const walksFor = (name: string): OlmWalks => {
    const ofPackage = source.catalog.packages.get(name);
    const walks = all.get(name) ?? (ofPackage ? walksOf(ofPackage, inScope) : inScope);
    all.set(name, walks);
    return walks;
  };
  return {
    scope,
    source,
    v0: (place, installed) =>
      walksFor(place.package).v0.ofChannel(place.package, place.channel).follow(installed),
    v1: (selection, installed) =>
      walksFor(selection.package).v1.of(selection.package, selection.channels).follow(installed),
  };
}

interface OlmWalks {
  readonly v0: Walks;
  readonly v1: Walks;
}

const alone = new WeakMap<Package, OlmWalks>();

/** The walks of a package: those for which no other package matters are the same in all catalogs that have it. */
function walksOf(ofPackage: Package, inScope: OlmWalks): OlmWalks {
  const catalog: Catalog = { packages: new Map([[ofPackage.name, ofPackage]]), blobs: NO_BLOBS };
  // A walk within one package does not depend on its catalog's name, priority or state.
  const source = { name: '', namespace: '', priority: 0, catalog, serving: true };
  const { v0, v1 } = alone.get(ofPackage) ?? walksIn({ catalogs: [source] }, source);
  alone.set(ofPackage, { v0, v1 });
  // OLM v1 has no requirements.
  return { v0: lanesOf(ofPackage).some(hasRequirements) ? inScope.v0 : v0, v1 };
}

/** The walks through one catalog, by OLM. Under OLM v1, channels with the same entries share one walk. */
function walksIn(scope: Scope, source: ScopeCatalog): OlmWalks {
  const v0: Walks = new Walks((name, [channel = '']) =>
    channel === ''
      ? walkWithoutChannel(source, name, (one, from) => v0.ofChannel(name, one).follow(from).next)
      : walkV0(scope, source, { package: name, channel }),
  );
  const v1: Walks = new Walks((name, channels) => {
    const walk = walkV1(source, { package: name, channels });
    const [only] = channels;
    const ofPackage = source.catalog.packages.get(name);
    if (!ofPackage || only === undefined || channels.length > 1) return walk;
    // Nothing that is said of an upgrade path under OLM v1 names the channel.
    const first = firstAlike(ofPackage, only);
    return first === only ? walk : walk.sharing(v1.ofChannel(name, first));
  });
  return { v0, v1 };
}

/** The upgrade paths of a subscription. They arrive at the head of its channel. */
function walkV0(scope: Scope, source: ScopeCatalog, place: Place): Walk {
  const ofPackage = source.catalog.packages.get(place.package);
  const channel = ofPackage?.channels.get(place.channel);
  const head = channel && headOf(channel)?.name;
  return new Walk({
    next: nextV0(scope, source, place),
    bundles: ofPackage?.bundles ?? NONE,
    isHead: (name) => name === head,
  });
}

/** The upgrades of subscriptions that name no channel. They arrive at the head of any channel. */
function walkWithoutChannel(
  source: ScopeCatalog,
  name: string,
  inChannel: (channel: string, from: Installed) => Outcome,
): Walk {
  const ofPackage = source.catalog.packages.get(name);
  const heads = new Set([...(ofPackage?.channels.values() ?? [])].flatMap(headsOf).map((head) => head.name));
  return new Walk({
    next: nextWithoutChannel(name, ofPackage, inChannel),
    bundles: ofPackage?.bundles ?? NONE,
    isHead: (head) => heads.has(head),
  });
}

/** The upgrade paths of an extension. They arrive at any head of the selected channels. */
function walkV1(source: ScopeCatalog, selection: Selection): Walk {
  const ofPackage = source.catalog.packages.get(selection.package);
  const selected = ofPackage ? selectedIn(ofPackage, selection.channels) : [];
  const heads = new Set(selected.flatMap(headsOf).map(({ name }) => name));
  return new Walk({
    next: nextV1(source, selection),
    bundles: ofPackage?.bundles ?? NONE,
    isHead: (name) => heads.has(name),
  });
}

const NONE: ReadonlyMap<string, Bundle> = new Map();

type MakeWalk = (name: string, channels: readonly string[]) => Walk;

/** Walks by package and channels, made when they are asked for: most select one channel or none. */
class Walks {
  readonly #make: MakeWalk;
  readonly #open = new Map<string, Walk>();
  readonly #single = new Map<string, Map<string, Walk>>();
  readonly #others = new Map<string, Walk>();

  constructor(make: MakeWalk) {
    this.#make = make;
  }

  /** The walk through one channel of a package, made once. */
  ofChannel(name: string, channel: string): Walk {
    const ofPackage = this.#single.get(name) ?? new Map<string, Walk>();
    const found = ofPackage.get(channel);
    if (found) return found;
    const made = this.#make(name, [channel]);
    this.#single.set(name, ofPackage.set(channel, made));
    return made;
  }

  /** The walk of a package with these channels selected, or with none, made once. */
  of(name: string, channels: readonly string[]): Walk {
    const [only] = channels;
    if (only !== undefined && channels.length === 1) return this.ofChannel(name, only);
    const walks = channels.length === 0 ? this.#open : this.#others;
    const key = channels.length === 0 ? name : JSON.stringify([name, channels]);
    const found = walks.get(key);
    if (found) return found;
    const made = this.#make(name, channels);
    walks.set(key, made);
    return made;
  }
}

interface PathInput {
  readonly next: (from: Installed) => Outcome;
  readonly bundles: ReadonlyMap<string, Bundle>;
  readonly isHead: (name: string) => boolean;
}

interface Step {
  readonly from: Installed;
  /** The catalog's bundle, where it is what is installed. */
  readonly own: Bundle | undefined;
  readonly next: Outcome;
}

/** Upgrade paths from one input, whose common parts are walked once. */
class Walk {
  readonly #input: PathInput;
  /** Upgrade paths of the bundles that are in the catalog, and by their texts of others that were asked for. */
  readonly #paths: Map<Bundle | string, UpgradePath>;

  constructor(input: PathInput, paths = new Map<Bundle | string, UpgradePath>()) {
    this.#input = input;
    this.#paths = paths;
  }

  /**
   * A walk from this input that shares its results with another walk, in both directions. Both inputs must be equal.
   */
  sharing(other: Walk): Walk {
    return new Walk(this.#input, other.#paths);
  }

  /**
   * The upgrade path of an installation. `#walk` keeps those of bundles; those of other installations are kept here.
   */
  follow(installed: Installed): UpgradePath {
    const own = this.#ownOf(installed);
    const key = own ?? JSON.stringify([installed.name, versionText(installed)]);
    const known = this.#paths.get(key);
    if (known) return known;
    const found = this.#walk(installed, own);
    return own ? found : this.#keep(key, found);
  }

  /** The path from an installed version to where it ends, or into a circle. It stops at a bundle whose path is known. */
  #walk(installed: Installed, first: Bundle | undefined): UpgradePath {
    const path: Step[] = [];
    const positions = new Map<Bundle, number>();
    let [from, own] = [installed, first];
    for (;;) {
      const known = own && this.#paths.get(own);
      if (known) return this.#unwind(path, known);
      const start = own && positions.get(own);
      if (start !== undefined) return this.#unwind(path.slice(0, start), this.#circle(path.slice(start)));
      const next = this.#input.next(from);
      if (next.kind !== 'upgrade') {
        const arrives = next.kind === 'stays' && this.#input.isHead(from.name);
        return this.#unwind(path, this.#keep(own, { next, end: from, last: next, hops: 0, arrives }));
      }
      if (own) positions.set(own, path.length);
      path.push({ from, own, next });
      const to = this.#input.bundles.get(next.to.name);
      [from, own] = to ? [installedOf(to), to] : [next.to, undefined];
    }
  }

  /** The catalog's bundle, where it is what is installed: that may have another version under the same name. */
  #ownOf({ name, version }: Installed): Bundle | undefined {
    const own = this.#input.bundles.get(name);
    return own && isSameVersion(own.version, version) ? own : undefined;
  }

  /** Keeps the path of a bundle for whoever asks next. */
  #keep(own: Bundle | string | undefined, path: UpgradePath): UpgradePath {
    // Why there is nothing to choose from depends on the channels that were asked for.
    const isNowhere = path.last.kind === 'fails' && path.last.reason.code === 'no-bundle';
    if (own && !isNowhere) this.#paths.set(own, path);
    return path;
  }

  /**
   * Keeps a path for each bundle of a circle, and returns that of the first. A circle has no end, so each of its
   * bundles counts as its own, without upgrades: the result is the same wherever a cluster enters.
   */
  #circle(steps: readonly Step[]): UpgradePath {
    const paths = steps.map(({ from, own, next }) =>
      this.#keep(own, { next, end: from, last: { kind: 'circle' }, hops: 0, arrives: false }),
    );
    return paths[0] as UpgradePath;
  }

  /** Gives all bundles on the way the end that was found, and returns the path of the first. */
  #unwind(path: readonly Step[], end: UpgradePath): UpgradePath {
    const { end: at, last, arrives } = end;
    let current = end;
    for (let i = path.length - 1; i >= 0; i--) {
      const { own, next } = path[i] as Step;
      current = this.#keep(own, { next, end: at, last, hops: current.hops + 1, arrives });
    }
    return current;
  }
}

/** What follows from an installation, step by step, to the end of its path; in a circle, until a bundle comes again. */
export function stepsOf(
  pathFrom: (installed: Installed) => UpgradePath,
  installed: Installed,
): readonly Outcome[] {
  const steps: Outcome[] = [];
  const seen = new Set<string>();
  for (let at = installed; ; ) {
    const { next } = pathFrom(at);
    steps.push(next);
    if (next.kind !== 'upgrade' || seen.has(next.to.name)) return steps;
    seen.add(next.to.name);
    at = next.to;
  }
}
