/**
 * Selecting packages, channels and versions of a catalog so that what remains is a sound
 * catalog: every bundle keeps its way up to the head of its channel, and whatever other
 * bundles it requires.
 */

import { headOf } from '../../fbc/channel.ts';
import {
  type Blobs,
  type Bundle,
  type Catalog,
  type Channel,
  locate,
  type Package,
} from '../../fbc/model.ts';
import type { Finding, Location } from '../../finding.ts';
import { compareText } from '../../go/text.ts';
import { satisfies } from '../../version/satisfies.ts';
import { compareVersions, tryParseRange, type VersionRange } from '../../version/version.ts';
import { chainFrom, hasCycle, type Link } from './replacement-chain.ts';
import { namesByPackage, withEntries, withRemaining } from './trimmed-blobs.ts';

/** One `--only`: a package, perhaps with one of its channels or a range of its versions. */
export interface Choice {
  readonly package: string;
  /** The text behind the `@`: a channel where the package has one of that name, else a range. */
  readonly part: string | undefined;
}

/** Reads `PACKAGE`, `PACKAGE@CHANNEL` or `PACKAGE@RANGE`. */
export function parseChoice(text: string): Choice {
  const at = text.indexOf('@');
  return at < 0
    ? { package: text, part: undefined }
    : { package: text.slice(0, at), part: text.slice(at + 1) };
}

/** Something that a bundle requires of others. */
export interface Need {
  /** Such as `package etcd in version >=1.0.0`. */
  readonly text: string;
  readonly isMetBy: (bundle: Bundle) => boolean;
}

/** A bundle that was not selected, and why it stays. */
export interface Kept {
  readonly package: string;
  readonly bundle: string;
  readonly why: string;
}

interface Selection {
  /** A catalog by itself. */
  readonly blobs: Blobs;
  readonly kept: readonly Kept[];
  /** What could not be chosen, or cannot be kept whole. */
  readonly findings: readonly Finding[];
}

/**
 * Selects of a catalog what is chosen and what that needs.
 *
 * @param needsOf what a bundle requires of others
 */
export function selectPackages(
  catalog: Catalog,
  choices: readonly Choice[],
  needsOf: (bundle: Bundle) => readonly Need[],
): Selection {
  const selector = new Selector(catalog);
  for (const choice of choices) selector.choose(choice);
  selector.require(needsOf);
  return selector.selection();
}

class Selector {
  readonly #catalog: Catalog;
  readonly #findings: Finding[] = [];
  readonly #kept = new Map<string, Kept>();
  /** Entries by package and channel. */
  readonly #entries = new Map<string, Map<string, Set<string>>>();
  /** The bundles of the entries, until an entry is added. */
  #selected: Bundle[] | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Selects a package, or the bundles of one of its channels or of a range of versions. */
  choose({ package: name, part }: Choice): void {
    const found = this.#catalog.packages.get(name);
    if (!found) {
      this.#refuse(`the catalog has no package ${JSON.stringify(name)}`);
      return;
    }
    const channel = part === undefined ? undefined : found.channels.get(part);
    const range = part === undefined || channel ? undefined : tryParseRange(part);
    if (part !== undefined && !channel && !range) {
      const channels = [...found.channels.keys()].sort(compareText).join(', ');
      this.#refuse(
        `${JSON.stringify(part)} is neither a version range nor a channel of ${name}, which has ${channels}`,
      );
      return;
    }
    const channels = channel ? [channel] : [...found.channels.values()];
    let count = 0;
    for (const one of channels) count += this.#choose(found, one, range);
    if (count === 0) this.#refuse(`no bundle of ${name} is in ${part ?? 'its channels'}`);
  }

  /**
   * Selects the chosen entries of one channel, with those that lie between them on the way up.
   *
   * @returns how many were chosen
   */
  #choose(found: Package, channel: Channel, range: VersionRange | undefined): number {
    const chosen = channel.entries
      .map(({ name }) => name)
      .filter((name) => !range || isIn(found.bundles.get(name), range));
    // A whole channel has no entries in between to be added.
    if (range && chosen.length > 0) this.#add(channel, chosen);
    else if (!range) this.#note(channel, chosen);
    return chosen.length;
  }

  /** Selects entries of a channel, with those between them, so that upgrades lead from each to the head. */
  #add(channel: Channel, chosen: readonly string[]): void {
    const before = this.#names(channel);
    const wanted = new Set([...before, ...chosen]);
    const path = pathThrough(channel, wanted);
    if (!path) {
      const message = `channel "${channel.name}" of ${channel.package} has no single upgrade path to its head, so the whole channel is kept`;
      this.#findings.push(finding('warning', message, locate(channel)));
    }
    const all = path ?? new Set(channel.entries.map(({ name }) => name));
    this.#note(channel, all);
    for (const name of all) {
      if (wanted.has(name)) continue;
      this.#keep(channel.package, name, `between two selected versions in channel ${channel.name}`);
    }
  }

  /** Notes why a bundle stays that nobody selected; the first reason counts. */
  #keep(name: string, bundle: string, why: string): void {
    const key = `${name}/${bundle}`;
    if (!this.#kept.has(key)) this.#kept.set(key, { package: name, bundle, why });
  }

  #names({ package: name, name: channel }: Channel): ReadonlySet<string> {
    return this.#entries.get(name)?.get(channel) ?? new Set();
  }

  /** Adds entries of a channel to those selected. */
  #note({ package: name, name: channel }: Channel, names: Iterable<string>): void {
    const channels = this.#entries.get(name) ?? new Map<string, Set<string>>();
    const known = channels.get(channel) ?? new Set();
    for (const one of names) known.add(one);
    this.#entries.set(name, channels.set(channel, known));
    this.#selected = undefined;
  }

  /** Adds what the selected bundles require, and what that requires, until nothing is missing. */
  require(needsOf: (bundle: Bundle) => readonly Need[]): void {
    const done = new Set<Bundle>();
    for (
      let pending = this.#bundles();
      pending.length > 0;
      pending = this.#bundles().filter((one) => !done.has(one))
    ) {
      for (const bundle of pending) {
        done.add(bundle);
        for (const need of needsOf(bundle)) this.#satisfy(bundle, need);
      }
    }
  }

  /** Adds a bundle that meets a need, unless one is selected; warns where none exists. */
  #satisfy(bundle: Bundle, need: Need): void {
    if (this.#bundles().some(need.isMetBy)) return;
    const provider = this.#provider(need);
    if (!provider) {
      const message = `bundle "${bundle.name}" requires ${need.text}, which no bundle of the catalog provides`;
      this.#findings.push(finding('warning', message, locate(bundle)));
      return;
    }
    const { found, channel } = provider;
    this.#keep(found.package, found.name, `required by ${bundle.package}/${bundle.name}: ${need.text}`);
    this.#add(channel, [found.name]);
  }

  /** The bundle that meets a need: in a default channel if possible, then the highest version, then the first package by name. */
  #provider(need: Need): { found: Bundle; channel: Channel } | undefined {
    const offers = [...this.#catalog.packages.values()].flatMap((one) =>
      [...one.bundles.values()].filter(need.isMetBy).flatMap((found) => {
        const channel = channelWith(one, found.name);
        return channel ? [{ found, channel, isDefault: channel.name === one.defaultChannel }] : [];
      }),
    );
    return offers.sort(
      (a, b) =>
        Number(b.isDefault) - Number(a.isDefault) ||
        byVersion(b.found, a.found) ||
        compareText(a.found.package, b.found.package),
    )[0];
  }

  /** The selected bundles, package by package. */
  #bundles(): readonly Bundle[] {
    this.#selected ??= [...this.#entries].flatMap(([name, channels]) => {
      const bundles = this.#catalog.packages.get(name)?.bundles;
      const names = new Set([...channels.values()].flatMap((entries) => [...entries]));
      return [...names].sort(compareText).flatMap((bundle) => bundles?.get(bundle) ?? []);
    });
    return this.#selected;
  }

  /** The catalog with what was selected, and why more than that is kept. */
  selection(): Selection {
    const { blobs } = this.#catalog;
    const has = (name: string): boolean => this.#entries.has(name);
    const selected = new Set(this.#bundles());
    const channels = blobs.channels.flatMap((channel) => {
      const names = this.#names(channel);
      return names.size === 0 ? [] : [withEntries(channel, names)];
    });
    const bundles = blobs.bundles.filter((bundle) => selected.has(bundle));
    const remaining = { channels: namesByPackage(channels), bundles: namesByPackage(bundles) };
    const chosen: Blobs = {
      packages: blobs.packages.filter(({ name }) => has(name)).map((one) => this.#withDefault(one, channels)),
      channels,
      bundles,
      deprecations: blobs.deprecations
        .filter((one) => has(one.package))
        .map((one) => withRemaining(one, remaining)),
      others: blobs.others.filter((one) => one.package === '' || has(one.package)),
    };
    return {
      blobs: chosen,
      kept: [...this.#kept.values()].sort(
        (a, b) => compareText(a.package, b.package) || compareText(a.bundle, b.bundle),
      ),
      findings: this.#findings,
    };
  }

  /** The package with a default channel that is still there: its own, or the one whose head is the highest version. */
  #withDefault<P extends Blobs['packages'][number]>(one: P, channels: readonly Channel[]): P {
    const own = channels.filter((channel) => channel.package === one.name);
    if (own.some(({ name }) => name === one.defaultChannel)) return one;
    const bundles = this.#catalog.packages.get(one.name)?.bundles;
    const headOfChannel = (channel: Channel): Bundle | undefined => bundles?.get(headOf(channel)?.name ?? '');
    const [highest] = own.sort(
      (a, b) => byVersion(headOfChannel(b), headOfChannel(a)) || compareText(a.name, b.name),
    );
    if (!highest) return one;
    const message = `package "${one.name}": the default channel "${one.defaultChannel}" is not selected; ${highest.name} is the default of the selection`;
    this.#findings.push(finding('warning', message, locate(one, 'defaultChannel')));
    return { ...one, defaultChannel: highest.name, value: { ...one.value, defaultChannel: highest.name } };
  }

  /** Reports a choice that cannot be followed. */
  #refuse(message: string): void {
    this.#findings.push(finding('error', message, { file: '--only', line: 1, column: 1 }));
  }
}

function finding(severity: Finding['severity'], message: string, location: Location): Finding {
  return { rule: 'mirror/selection', severity, message, location };
}

function isIn(bundle: Bundle | undefined, range: VersionRange): boolean {
  return bundle?.version !== undefined && satisfies(bundle.version, range);
}

/** Compares bundles by version; one without a version comes first. */
function byVersion(a: Bundle | undefined, b: Bundle | undefined): number {
  if (a?.version && b?.version) return compareVersions(a.version, b.version);
  return Number(a?.version !== undefined) - Number(b?.version !== undefined);
}

/** The channel to take a bundle from: the default one if that has it, or else the first by name. */
function channelWith(found: Package, bundle: string): Channel | undefined {
  const channels = [...found.channels.values()].filter(({ entries }) =>
    entries.some(({ name }) => name === bundle),
  );
  channels.sort((a, b) => compareText(a.name, b.name));
  return channels.find(({ name }) => name === found.defaultChannel) ?? channels[0];
}

/**
 * The wanted entries of a channel and those between them, so that each has a way up to
 * the highest. Undefined when the channel has no single chain of replacements.
 */
function pathThrough(channel: Channel, wanted: ReadonlySet<string>): Set<string> | undefined {
  const head = headOf(channel);
  if (!head || hasCycle(channel)) return undefined;
  const chain = chainFrom(channel, head);
  const places = new Map(chain.map(({ name }, i) => [name, i]));
  const skippers = skippersOf(chain);
  let [first, last] = [chain.length, 0];
  for (const name of wanted) {
    const place = places.get(name) ?? skippers.get(name);
    if (place === undefined) return undefined;
    [first, last] = [Math.min(first, place), Math.max(last, place)];
  }
  const between = chain.slice(first, last + 1);
  const present = new Set(channel.entries.map(({ name }) => name));
  return new Set([...between.map(({ name }) => name), ...wanted].filter((name) => present.has(name)));
}

/** The lowest place on the chain from which each entry is skipped: that is the nearest way up from it. */
function skippersOf(chain: readonly Link[]): Map<string, number> {
  const skippers = new Map<string, number>();
  for (const [i, { skips }] of chain.entries()) for (const skip of skips) skippers.set(skip, i);
  return skippers;
}
