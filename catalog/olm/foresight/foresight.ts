/**
 * Foresight: for every installation of a catalog's packages, what happens next and where
 * the upgrade path ends. Each bundle is looked at once, so that asking for all of them costs
 * little more than asking for one.
 */
import { headOf, headsOf } from '../../fbc/channel.ts';
import { type Installed, installedOf } from '../../fbc/edge.ts';
import { nextV0, type Place } from '../resolve/next-v0.ts';
import { nextV1, type Selection } from '../resolve/next-v1.ts';
import type { Fails, Outcome, Stays } from '../resolve/outcome.ts';
import type { Scope, ScopeCatalog } from '../resolve/snapshot.ts';

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
  /** Of a subscription under OLM v0. */
  readonly v0: (place: Place, installed: Installed) => UpgradePath;
  /** Of an extension under OLM v1. */
  readonly v1: (selection: Selection, installed: Installed) => UpgradePath;
}

/** Prepares to foresee what one catalog of a scope does; what it offers is sought in all of them. */
export function foresightOf(scope: Scope, source: ScopeCatalog): Foresight {
  const walks = { v0: new Walks(), v1: new Walks() };
  const bundle = (ofPackage: string, name: string): Installed | undefined => {
    const found = source.catalog.packages.get(ofPackage)?.bundles.get(name);
    return found && installedOf(found);
  };
  return {
    scope,
    source,
    v0: (place, installed) =>
      walks.v0
        .of(place.package, [place.channel], () => {
          const channel = source.catalog.packages.get(place.package)?.channels.get(place.channel);
          const head = channel && headOf(channel)?.name;
          return new Walk({
            next: (from) => nextV0(scope, source, { place, installed: from }),
            bundle: (name) => bundle(place.package, name),
            isHead: (name) => name === head,
          });
        })
        .follow(installed),
    v1: (selection, installed) =>
      walks.v1
        .of(selection.package, selection.channels, () => {
          const { channels } = selection;
          const all = [...(source.catalog.packages.get(selection.package)?.channels.values() ?? [])];
          const selected = all.filter(({ name }) => channels.length === 0 || channels.includes(name));
          const heads = new Set(selected.flatMap(headsOf).map(({ name }) => name));
          return new Walk({
            next: (from) => nextV1(source, { selection, installed: from }),
            bundle: (name) => bundle(selection.package, name),
            isHead: (name) => heads.has(name),
          });
        })
        .follow(installed),
  };
}

/** Walks by package and channels. */
class Walks {
  readonly #known = new Map<string, Map<string, Walk>>();

  of(name: string, channels: readonly string[], make: () => Walk): Walk {
    const ofPackage = this.#known.get(name) ?? new Map<string, Walk>();
    this.#known.set(name, ofPackage);
    // Asked for each installation: most select one channel or none.
    const [only = '', ...others] = channels;
    const key = others.length === 0 && only !== '' ? `one ${only}` : `all ${JSON.stringify(channels)}`;
    const found = ofPackage.get(key) ?? make();
    ofPackage.set(key, found);
    return found;
  }
}

interface Ground {
  readonly next: (from: Installed) => Outcome;
  readonly bundle: (name: string) => Installed | undefined;
  readonly isHead: (name: string) => boolean;
}

/** Upgrade paths over one ground, whose common parts are walked once. */
class Walk {
  readonly #ground: Ground;
  /** Upgrade paths of the bundles that are in the catalog. */
  readonly #paths = new Map<string, UpgradePath>();

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  follow(installed: Installed): UpgradePath {
    const path: { from: Installed; next: Outcome }[] = [];
    const onPath = new Set<string>();
    let at = installed;
    for (;;) {
      // What is installed may differ from the catalog's bundle of that name: only the latter is kept.
      const known = this.#kept(at);
      if (known) return this.#unwind(path, known);
      const own = this.#isOwn(at);
      if (own && onPath.has(at.name)) return this.#unwind(path, this.#circle(path, at));
      const next = this.#ground.next(at);
      if (next.kind !== 'upgrade') {
        const arrives = next.kind === 'stays' && this.#ground.isHead(at.name);
        return this.#unwind(path, this.#keep(at, { next, end: at, last: next, hops: 0, arrives }));
      }
      path.push({ from: at, next });
      if (own) onPath.add(at.name);
      at = this.#ground.bundle(next.to.name) ?? next.to;
    }
  }

  #kept(installed: Installed): UpgradePath | undefined {
    return this.#isOwn(installed) ? this.#paths.get(installed.name) : undefined;
  }

  #keep(installed: Installed, path: UpgradePath): UpgradePath {
    if (this.#isOwn(installed)) this.#paths.set(installed.name, path);
    return path;
  }

  #isOwn({ name, version }: Installed): boolean {
    const own = this.#ground.bundle(name);
    return own !== undefined && own.version === version;
  }

  /** Ends the upgrade paths of all bundles of a circle, and returns the upgrade path of the first. */
  #circle(path: { from: Installed; next: Outcome }[], first: Installed): UpgradePath {
    const start = path.findIndex(({ from }) => from.name === first.name && this.#isOwn(from));
    const paths = path
      .splice(start)
      .map(({ from, next }) =>
        this.#keep(from, { next, end: from, last: { kind: 'circle' }, hops: 0, arrives: false }),
      );
    return paths[0] as UpgradePath;
  }

  #unwind(path: readonly { from: Installed; next: Outcome }[], end: UpgradePath): UpgradePath {
    let current = end;
    for (const { from, next } of [...path].reverse()) {
      current = this.#keep(from, { ...current, next, hops: current.hops + 1 });
    }
    return current;
  }
}

/** The bundles of an upgrade path, from what is installed to its end. */
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
