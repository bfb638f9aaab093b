/**
 * What oc-mirror selects of a catalog: the heads of channels unless more is asked for, or
 * the versions of a range with what lies between them on the way to the head.
 *
 * @see https://github.com/sherine-k/catalog-filter/blob/v0.0.5/pkg/filter/mirror-config/v1alpha1/mirror-filter.go
 */

import { headsOf } from '../../fbc/channel.ts';
import {
  type Blobs,
  type Bundle,
  type Channel,
  type Entry,
  locate,
  type PackageBlob,
} from '../../fbc/model.ts';
import type { Finding, Location } from '../../finding.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import type { CatalogSelection, PackageSelection, VersionSelection } from '../image-set.ts';
import { type Bound, isWithin, parseBound } from '../version-bound.ts';
import { chainFrom, hasCycle, type Link } from './replacement-chain.ts';
import { namesByPackage, withEntries, withRemaining } from './trimmed-blobs.ts';

/** A part of a catalog that is a catalog itself. */
interface Filtered {
  readonly blobs: Blobs;
  /** The bundles to mirror: those of the blobs, and, as oc-mirror does, what a range takes and no chosen channel lists. */
  readonly mirrored: readonly Bundle[];
  /** Why the selection cannot be made; the blobs are of no use then. */
  readonly findings: readonly Finding[];
}

/** Whether a selection takes the catalog as it is. */
export function takesAll({ full, packages }: CatalogSelection): boolean {
  return full && packages.length === 0;
}

/** Selects of a catalog what an ImageSetConfiguration asks for. */
export function filterImageSet(blobs: Blobs, selection: CatalogSelection): Filtered {
  if (takesAll(selection)) return { blobs, mirrored: blobs.bundles, findings: [] };
  return new Filter(blobs, selection).filtered();
}

class Filter {
  readonly #blobs: Blobs;
  readonly #selection: CatalogSelection;
  readonly #packages: ReadonlyMap<string, PackageSelection>;
  readonly #bundles: ReadonlyMap<string, ReadonlyMap<string, Bundle>>;
  readonly #findings: Finding[] = [];
  /** Names of bundles by package. */
  readonly #mirroredNames = new Map<string, Set<string>>();

  constructor(blobs: Blobs, selection: CatalogSelection) {
    this.#blobs = blobs;
    this.#selection = selection;
    this.#packages = new Map(selection.packages.map((one) => [one.name, one]));
    this.#bundles = bundlesByPackage(blobs.bundles);
  }

  /**
   * The part of a catalog that the selection keeps. `mirrored` are all selected bundles, also those that no channel lists
   * any more.
   */
  filtered(): Filtered {
    const packages = this.#blobs.packages.filter(({ name }) => this.#isSelected(name));
    const inPackages = this.#blobs.channels.filter((channel) => this.#isChannelSelected(channel));
    const channels = inPackages.flatMap((channel) => this.#channel(channel));
    const listed = namesByPackage(
      channels.flatMap((channel) => channel.entries.map(({ name }) => ({ package: channel.package, name }))),
    );
    const mirrored = this.#mirroredBundles();
    const blobs: Blobs = {
      packages: packages.map((one) => this.#withDefault(one, inPackages)),
      channels,
      // opm refuses bundles that no channel lists.
      bundles: mirrored.filter((one) => listed.get(one.package)?.has(one.name)),
      deprecations: this.#blobs.deprecations
        .filter((one) => this.#isSelected(one.package))
        .map((one) => withRemaining(one, { channels: namesByPackage(channels), bundles: listed })),
      others: this.#blobs.others.filter((one) => one.package === '' || this.#isSelected(one.package)),
    };
    if (blobs.bundles.length === 0 && this.#findings.length === 0) {
      this.#refuse('the selection is empty', {
        file: 'ImageSetConfiguration',
        line: 1,
        column: 1,
      });
    }
    return { blobs, mirrored, findings: this.#findings };
  }

  #isSelected(name: string): boolean {
    return this.#packages.size === 0 || this.#packages.has(name);
  }

  #isChannelSelected(channel: Channel): boolean {
    const channels = this.#packages.get(channel.package)?.channels ?? [];
    if (channels.length > 0) return channels.some(({ name }) => name === channel.name);
    return this.#isSelected(channel.package);
  }

  /** The package with its default channel, which must be among those selected. */
  #withDefault(one: PackageBlob, channels: readonly Channel[]): PackageBlob {
    const chosen = this.#packages.get(one.name);
    if (!chosen) return one;
    const defaultChannel = chosen.defaultChannel ?? one.defaultChannel;
    if (defaultChannel === '') return one;
    if (!channels.some((channel) => channel.package === one.name && channel.name === defaultChannel)) {
      this.#refuse(
        `package "${one.name}": the default channel "${defaultChannel}" is not selected; name another with defaultChannel`,
        locate(one, 'defaultChannel'),
      );
    }
    return { ...one, defaultChannel, value: { ...one.value, defaultChannel } };
  }

  /** The channel with the entries that stay; none when nothing stays. */
  #channel(channel: Channel): Channel[] {
    const versions = this.#versionsOf(channel);
    if (this.#selection.full) {
      if (versions)
        this.#refuse('full: true cannot be combined with a selection of versions', locate(channel));
      return [this.#keep(channel, new Set(channel.entries.map(({ name }) => name)))];
    }
    if (!versions) {
      const head = this.#head(channel);
      return head ? [this.#keep(channel, new Set([head.name]))] : [];
    }
    const names = this.#inRange(channel, versions);
    const remaining = this.#keep(channel, names);
    if (remaining.entries.length > 0) return [remaining];
    if (this.#defaultsOf(channel.package).includes(channel.name)) {
      this.#refuse(
        `package "${channel.package}": no version of the default channel "${channel.name}" is selected; select one, or remove the channel and name another with defaultChannel`,
        locate(channel),
      );
    }
    return [];
  }

  /** The versions that are selected of a channel: its own, or else those of its package. */
  #versionsOf(channel: Channel): VersionSelection | undefined {
    const chosen = this.#packages.get(channel.package);
    const own = chosen?.channels.find(({ name }) => name === channel.name);
    const versions = own && hasVersions(own) ? own : chosen;
    return versions && hasVersions(versions) ? versions : undefined;
  }

  /** The default channel of the catalog, without which oc-mirror refuses the selection, and that of the selection. */
  #defaultsOf(name: string): (string | undefined)[] {
    const written = this.#blobs.packages.find((one) => one.name === name)?.defaultChannel;
    return [written, this.#packages.get(name)?.defaultChannel];
  }

  /** Notes that bundles are mirrored, and gives the channel with them alone. */
  #keep(channel: Channel, bundles: ReadonlySet<string>): Channel {
    const names = this.#mirroredNames.get(channel.package) ?? new Set();
    for (const bundle of bundles) names.add(bundle);
    this.#mirroredNames.set(channel.package, names);
    return withEntries(channel, bundles);
  }

  /** The head of a channel that is sound: one head, no cycle. */
  #head(channel: Channel): Entry | undefined {
    const heads = headsOf(channel);
    const [head] = heads;
    if (!head || heads.length > 1) {
      const found =
        heads.length === 0
          ? 'none'
          : heads
              .map(({ name }) => name)
              .sort()
              .join(', ');
      this.#refuse(
        `channel "${channel.name}" of package "${channel.package}" must have one head, found ${found}`,
        locate(channel),
      );
      return undefined;
    }
    if (hasCycle(channel)) {
      this.#refuse(
        `channel "${channel.name}" of package "${channel.package}" has entries that replace each other in a cycle`,
        locate(channel),
      );
      return undefined;
    }
    return head;
  }

  /** The bundles of a channel that a range of versions takes. */
  #inRange(channel: Channel, { minVersion, maxVersion }: VersionSelection): Set<string> {
    if (minVersion !== undefined && minVersion === maxVersion) return this.#exactly(channel, minVersion);
    const head = this.#head(channel);
    if (!head) return new Set();
    const range = { least: boundOf(minVersion), most: boundOf(maxVersion) };
    const bundles = this.#bundles.get(channel.package) ?? new Map<string, Bundle>();
    const within = (name: string): boolean => {
      const version = bundles.get(name)?.version;
      return version !== undefined && isWithin(version, range.least, range.most);
    };
    return linksBetween(chainFrom(channel, head), within);
  }

  /** One version and nothing beside it. It is looked for in the package: it need not be in this channel. */
  #exactly(channel: Channel, text: string): Set<string> {
    const wanted: Version | undefined = boundOf(text)?.version;
    for (const [name, { version }] of this.#bundles.get(channel.package) ?? []) {
      if (wanted && version && compareVersions(version, wanted) === 0) return new Set([name]);
    }
    this.#refuse(`package "${channel.package}" has no version ${text}`, locate(channel));
    return new Set();
  }

  /** The bundles that are mirrored, package by package. */
  #mirroredBundles(): Bundle[] {
    return [...this.#mirroredNames].flatMap(([name, kept]) =>
      [...kept].flatMap((bundle) => this.#bundles.get(name)?.get(bundle) ?? []),
    );
  }

  #refuse(message: string, location: Location): void {
    this.#findings.push({ rule: 'mirror/selection', severity: 'error', message, location });
  }
}

function hasVersions({ minVersion, maxVersion }: VersionSelection): boolean {
  return minVersion !== undefined || maxVersion !== undefined;
}

function boundOf(text: string | undefined): Bound | undefined {
  return text === undefined ? undefined : parseBound(text);
}

/** The bundles of each package by name; of equal names the first counts. */
function bundlesByPackage(bundles: readonly Bundle[]): Map<string, Map<string, Bundle>> {
  const byPackage = new Map<string, Map<string, Bundle>>();
  for (const bundle of bundles) {
    const known = byPackage.get(bundle.package) ?? new Map<string, Bundle>();
    if (!known.has(bundle.name)) known.set(bundle.name, bundle);
    byPackage.set(bundle.package, known);
  }
  return byPackage;
}

/**
 * The shortest part of the chain that has all versions of the range, as entries or in their skips. Links in between stay
 * whatever their version, so that upgrades pass them; of what the links skip, only versions of the range stay.
 */
function linksBetween(chain: readonly Link[], within: (name: string) => boolean): Set<string> {
  const seen = new Set<string>();
  // For each link, how many versions of the range it and those below it have.
  const counts: number[] = [];
  let count = 0;
  for (let i = chain.length - 1; i >= 0; i--) {
    const link = chain[i];
    if (!link) continue;
    for (const name of [link.name, ...link.skips]) {
      if (seen.has(name) || !within(name)) continue;
      seen.add(name);
      count++;
    }
    counts[i] = count;
  }
  const names = new Set<string>();
  // From the lowest link at or below which all of them are, to the last one at or below which any is.
  const head = counts.lastIndexOf(count);
  const tail = counts.indexOf(0);
  for (const link of chain.slice(head, tail < 0 ? undefined : tail)) {
    names.add(link.name);
    for (const skip of link.skips) if (within(skip)) names.add(skip);
  }
  return names;
}
