/**
 * Upgrade graphs in the language of Mermaid, as `opm alpha render-graph` draws them.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/write.go
 */

import type { Blobs, Channel, Entry } from '../fbc/model.ts';
import { sortAsGo } from '../go/sort.ts';
import { compareText, goQuoted } from '../go/text.ts';
import { satisfies } from '../version/satisfies.ts';
import {
  compareVersions,
  parseVersion,
  tryParseRange,
  type Version,
  VersionError,
  type VersionRange,
} from '../version/version.ts';

interface GraphOptions {
  /** Draw only what leads from this bundle on. */
  readonly from?: string;
  /** Draw only this package. */
  readonly package?: string;
  /** Mark what OLM v0 passes over. */
  readonly v0: boolean;
}

/**
 * The upgrade graph of catalogs as `opm alpha render-graph` draws it.
 *
 * @returns the graph; undefined if `from` is not a bundle with a version: what follows is found by versions
 * @throws VersionError for a range with an empty alternative, such as `<1.0.0 || || >2.0.0`
 */
export function mermaidGraph(blobs: Blobs, options: GraphOptions): string | undefined {
  const versions = new Map<string, Version>();
  for (const bundle of blobs.bundles) {
    if (!versions.has(bundle.name) && bundle.version) versions.set(bundle.name, bundle.version);
  }
  if (options.from !== undefined && !versions.has(options.from)) return undefined;
  const drawing = new Drawing(blobs, versions, options);
  const byName = sortAsGo([...blobs.channels], (a, b) => compareText(a.name, b.name) < 0);
  const home = byName.find(({ entries }) => entries.some(({ name }) => name === options.from))?.package ?? '';
  for (const channel of byName) {
    const entries = entriesToDraw(channel, { versions, home, options });
    if (entries) drawing.channel(channel, entries);
  }
  return drawing.text();
}

/** What a bundle without a version is taken for. */
const NONE = parseVersion('0.0.0');

interface Selection {
  readonly versions: ReadonlyMap<string, Version>;
  /** The package of the bundle from which on is drawn, or the empty string. */
  readonly home: string;
  readonly options: GraphOptions;
}

/** The entries of a channel that the options let be drawn; undefined when nothing of the channel is. */
function entriesToDraw(channel: Channel, selection: Selection): readonly Entry[] | undefined {
  const { home, options } = selection;
  if (options.from === undefined && options.package === undefined) return channel.entries;
  if (options.package !== undefined && channel.package !== options.package) return undefined;
  if (home !== '' && channel.package !== home) return undefined;
  const entries =
    options.from === undefined
      ? channel.entries
      : channel.entries.flatMap((entry) => edgesFrom(entry, options.from ?? '', selection.versions));
  return entries.length > 0 ? entries : undefined;
}

/** An entry with the edges that begin at the bundle `from` or above it; nothing when none is left. */
function edgesFrom(entry: Entry, from: string, versions: ReadonlyMap<string, Version>): Entry[] {
  const floor = versions.get(from) ?? NONE;
  const reaches = (name: string): boolean => compareVersions(versions.get(name) ?? NONE, floor) >= 0;
  const bare = { ...entry, replaces: '', skips: [], skipRange: '' };
  if (entry.name === from) return [bare];
  const hasEdges = ({ replaces, skips, skipRange }: Entry): boolean =>
    replaces !== '' || skips.length > 0 || skipRange !== '';
  const range = tryParseRange(entry.skipRange);
  const reached = {
    ...bare,
    replaces: entry.replaces !== '' && reaches(entry.replaces) ? entry.replaces : '',
    skips: entry.skips.filter(reaches),
    skipRange: entry.skipRange !== '' && range && satisfies(floor, range) ? entry.skipRange : '',
  };
  // An entry that had edges is drawn only while it keeps one.
  return hasEdges(reached) || (!hasEdges(entry) && reaches(entry.name)) ? [reached] : [];
}

/**
 * Whether a range contains a version, tried as opm does: alternative by alternative.
 *
 * @throws VersionError where opm crashes: it comes to an alternative that holds nothing
 */
function covers(range: VersionRange, version: Version): boolean {
  const empty = range.alternatives.findIndex((comparators) => comparators.length === 0);
  if (empty < 0) return satisfies(version, range);
  if (satisfies(version, { ...range, alternatives: range.alternatives.slice(0, empty) })) return true;
  throw new VersionError(`the range ${goQuoted(range.text)} has an empty alternative`);
}

class Drawing {
  readonly #versions: ReadonlyMap<string, Version>;
  readonly #v0: boolean;
  readonly #deprecated: { packages: Set<string>; channels: Set<string>; bundles: Set<string> };
  readonly #packages = new Map<string, string[]>();
  readonly #classes = new Map<string, string[]>();
  readonly #deprecatedChannels: string[] = [];
  readonly #skippedLinks: number[] = [];
  /** The last deprecated package that was drawn: opm colours only that one. */
  #deprecatedPackage = '';
  #links = 0;

  constructor({ deprecations }: Blobs, versions: ReadonlyMap<string, Version>, { v0 }: GraphOptions) {
    this.#versions = versions;
    this.#v0 = v0;
    // opm keeps the names of channels and bundles apart from their packages.
    const named = (schema: string): Set<string> =>
      new Set(
        deprecations.flatMap(({ entries }) => entries.filter((e) => e.schema === schema).map((e) => e.name)),
      );
    this.#deprecated = {
      packages: new Set(
        deprecations
          .filter(({ entries }) => entries.some(({ schema }) => schema === 'olm.package'))
          .map((one) => one.package),
      ),
      channels: named('olm.channel'),
      bundles: named('olm.bundle'),
    };
  }

  /** Adds a channel with its entries, the highest version first. */
  channel(channel: Channel, entries: readonly Entry[]): void {
    const lines = this.#packages.get(channel.package) ?? [];
    this.#packages.set(channel.package, lines);
    const id = `${channel.package}-${channel.name}`;
    lines.push(`    %% channel ${goQuoted(channel.name)}`, `    subgraph ${id}[${goQuoted(channel.name)}]`);
    if (this.#deprecated.packages.has(channel.package)) this.#deprecatedPackage = channel.package;
    if (this.#deprecated.channels.has(channel.name)) this.#deprecatedChannels.push(id);
    const newestFirst = sortAsGo(
      [...entries],
      (a, b) => compareVersions(this.#version(a), this.#version(b)) > 0,
    );
    const skipped = new Set<string>();
    for (const entry of newestFirst) {
      for (const line of this.#entry(entry, { id, entries, skipped })) lines.push(line);
    }
    lines.push('    end');
  }

  #version({ name }: Entry): Version {
    return this.#versions.get(name) ?? NONE;
  }

  /** The lines of an entry, and of the edges to it. Notes which edges are drawn as skipped. */
  #entry(
    entry: Entry,
    { id, entries, skipped }: { id: string; entries: readonly Entry[]; skipped: Set<string> },
  ): string[] {
    const node = (name: string): string => `${id}-${name}[${goQuoted(name)}]`;
    const edge = (name: string, label: string): string =>
      `      ${node(name)}-- ${label} --> ${node(entry.name)}`;
    this.#decorate(`${id}-${entry.name}`, entry.name, skipped);
    const lines = [`      ${node(entry.name)}`];
    for (const skip of entry.skips) {
      lines.push(edge(skip, 'skip'));
      // As in opm, what counts here is whether the bundle below was skipped before; for other edges, whether the entry was.
      this.#link(skipped.has(skip));
      if (this.#v0) skipped.add(skip);
    }
    const range = entry.skipRange === '' ? undefined : tryParseRange(entry.skipRange);
    const covered = range ? entries.filter((other) => covers(range, this.#version(other))) : [];
    for (const { name } of covered) {
      lines.push(edge(name, `"skipRange(${entry.skipRange})"`));
      this.#link(skipped.has(entry.name));
    }
    if (entry.replaces !== '') {
      lines.push(edge(entry.replaces, 'replace'));
      this.#link(skipped.has(entry.name));
    }
    return lines;
  }

  /** Mermaid takes one class a node, so each combination is one of its own. */
  #decorate(id: string, name: string, skipped: ReadonlySet<string>): void {
    const decoration =
      (this.#deprecated.bundles.has(name) ? 'deprecated' : '') + (skipped.has(name) ? 'skipped' : '');
    if (decoration !== '') this.#classes.set(decoration, [...(this.#classes.get(decoration) ?? []), id]);
  }

  /** Counts a drawn edge: Mermaid styles edges by their number. */
  #link(isSkipped: boolean): void {
    if (isSkipped) this.#skippedLinks.push(this.#links);
    this.#links++;
  }

  /** The diagram as opm prints it. */
  text(): string {
    const lines = [
      'graph LR',
      '  classDef deprecated fill:#E8960F',
      '  classDef skipped stroke:#FF0000,stroke-width:4px',
      '  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px',
    ];
    for (const [name, drawn] of [...this.#packages].sort(([a], [b]) => compareText(a, b))) {
      lines.push(`  %% package ${goQuoted(name)}`, `  subgraph ${goQuoted(name)}`, ...drawn, '  end');
    }
    if (this.#deprecatedPackage !== '') lines.push(`style ${this.#deprecatedPackage} fill:#989695`);
    for (const id of this.#deprecatedChannels) lines.push(`style ${id} fill:#DCD0FF`);
    for (const [decoration, ids] of [...this.#classes].sort(([a], [b]) => compareText(a, b))) {
      lines.push(`class ${ids.sort(compareText).join(',')} ${decoration}`);
    }
    if (this.#skippedLinks.length > 0) {
      const style = 'stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;';
      lines.push(`linkStyle ${this.#skippedLinks.join(',')} ${style}`);
    }
    return `${lines.join('\n')}\n`;
  }
}
