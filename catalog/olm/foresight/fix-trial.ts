/**
 * A trial: what would become of installations if channels were written otherwise.
 */

import { hasChain } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import {
  type Bundle,
  type Catalog,
  type Channel,
  type Entry,
  type Package,
  packageWith,
} from '../../fbc/model.ts';
import { basedOn } from '../../fbc/naming.ts';
import { type Steps, spendSteps, withinSteps } from '../../go/steps.ts';
import { Undecided } from '../../undecided.ts';
import { type Foresight, foresightOf } from './foresight.ts';
import { type InstallationGroup, installationGroups } from './installation.ts';
import { type Following, upgradePathOf, type World } from './world.ts';

/** Entries of channels that are to be written otherwise, by the channel's name. */
type EditedEntries = ReadonlyMap<string, readonly Entry[]>;

export interface FixTrial {
  /** Whether with these entries all the stuck ones get where they should, and nobody else is lost. */
  readonly helps: (edited: EditedEntries, stuck: readonly InstallationGroup[]) => boolean;
  /** Whether so much was tried that nothing else will help. */
  readonly isOver: () => boolean;
}

/**
 * Entries and skips of a package that are read in all its trials together. A package of 150 entries that each skip four
 * can be tried 2,600 times.
 */
const MOST_TRIED = 2e6;

/**
 * Prepares trials of one package; undefined if the catalog does not have it.
 *
 * @param past where the bundles of restored entries come from
 */
export function trialOf(world: World, name: string, past: World | undefined): FixTrial | undefined {
  const ofPackage = world.catalog.packages.get(name);
  if (!ofPackage) return undefined;
  const arriving = arrivingIn(world, ofPackage);
  const known = new WeakMap<readonly Entry[], EditedChannel>();
  const steps: Steps = { left: MOST_TRIED };
  const size = [...ofPackage.channels.values()]
    .flatMap(({ entries }) => entries)
    .reduce((sum, { skips }) => sum + 1 + skips.length, 0);
  // What was proposed for other channels is in each trial.
  const editedOnce = (old: Channel, entries: readonly Entry[]): EditedChannel => {
    const found = known.get(entries) ?? editedChannel(old, entries);
    known.set(entries, found);
    return found;
  };
  const foreseen = withLastResults((edited) => {
    spendSteps(steps, size);
    const changed = [...edited].flatMap(([channel, entries]) => {
      const old = ofPackage.channels.get(channel);
      return old ? [editedOnce(old, entries)] : [];
    });
    if (changed.some(({ breaksChain }) => breaksChain)) return undefined;
    const channels = changed.map(({ channel }) => channel);
    return foresightWith(world, name, withChannels(ofPackage, channels, past));
  });
  return {
    isOver: () => steps.left < size,
    helps: undecidedAsNo((edited, stuck) => {
      const foresight = foreseen(edited);
      if (!foresight) return false;
      // Under OLM v0 nobody sees another channel.
      const concerned = arriving.filter(
        ({ olm, onlyChannel, channel }) => (olm === 'v1' && !onlyChannel) || edited.has(channel),
      );
      const graphs = past && { past: past.foresight, written: world.foresight, tried: foresight };
      return [...stuck, ...concerned].every(
        (one) =>
          one.installed.every((installed) => upgradePathOf(foresight, one, installed).arrives) &&
          (!graphs || keepsStops(graphs, ofPackage, one)),
      );
    }),
  };
}

interface EditedChannel {
  readonly channel: Channel;
  /** Whether opm refuses it, and did not before. */
  readonly breaksChain: boolean;
}

function editedChannel(old: Channel, entries: readonly Entry[]): EditedChannel {
  const channel = withEntries(old, entries);
  return { channel, breaksChain: hasChain(old) && !hasChain(channel) };
}

/** What is not decided, or takes too many steps, helps nobody. */
function undecidedAsNo(helps: FixTrial['helps']): FixTrial['helps'] {
  return (edited, stuck) => {
    try {
      return withinSteps(() => helps(edited, stuck)) ?? false;
    } catch (error) {
      if (error instanceof Undecided) return false;
      throw error;
    }
  };
}

/** Edits whose foresight is remembered: all that was proposed, and the fixes one by one, are tried for each group of the stuck. */
const REMEMBERED = 4;

/** Keeps the results of the last few edits, because each group of stuck installations tries the same ones. */
function withLastResults(
  simulateEdit: (edited: EditedEntries) => Foresight | undefined,
): typeof simulateEdit {
  const last: { readonly edited: EditedEntries; readonly foresight: Foresight | undefined }[] = [];
  return (edited) => {
    const at = last.findIndex((one) => isSameEdit(one.edited, edited));
    const [known] = at < 0 ? [] : last.splice(at, 1);
    const found = known ?? { edited: new Map(edited), foresight: simulateEdit(edited) };
    last.unshift(found);
    last.length = Math.min(last.length, REMEMBERED);
    return found.foresight;
  };
}

function isSameEdit(one: EditedEntries, other: EditedEntries): boolean {
  return one.size === other.size && [...one].every(([channel, entries]) => other.get(channel) === entries);
}

/** The graph before the change, as it is written, and as it is tried. */
interface Graphs {
  readonly past: Foresight;
  readonly written: Foresight;
  readonly tried: Foresight;
}

/**
 * Whether no upgrade that an edit brings jumps over a version that the past graph made clusters pass, as far as the
 * channel still has it: a migration may run there. The end of that graph does not count.
 */
function keepsStops(
  { past, written, tried }: Graphs,
  { channels }: Package,
  one: InstallationGroup,
): boolean {
  const here = one.channel === '' ? [...channels.values()] : [channels.get(one.channel)];
  const present = new Set(here.flatMap((channel) => channel?.entries.map(({ name }) => name) ?? []));
  return one.installed.every((installed) => {
    const to = nextOf(tried, one, installed);
    if (!to || to.name === nextOf(written, one, installed)?.name) return true;
    const stop = firstOf(past, one, installed, (at) => present.has(at.name));
    const isEnd = !stop || !nextOf(past, one, stop);
    return isEnd || firstOf(tried, one, installed, ({ name }) => name === stop.name) !== undefined;
  });
}

function nextOf(foresight: Foresight, following: Following, installed: Installed): Installed | undefined {
  const { next } = upgradePathOf(foresight, following, installed);
  return next.kind === 'upgrade' ? next.to : undefined;
}

/** The first version on an upgrade path for which `isWanted` holds. */
function firstOf(
  foresight: Foresight,
  following: Following,
  installed: Installed,
  isWanted: (at: Installed) => boolean,
): Installed | undefined {
  const seen = new Set<string>();
  let at = nextOf(foresight, following, installed);
  while (at && !isWanted(at) && !seen.has(at.name)) {
    seen.add(at.name);
    at = nextOf(foresight, following, at);
  }
  return at && isWanted(at) ? at : undefined;
}

/** A channel with other entries, most of which are as they were. */
export function withEntries(channel: Channel, entries: readonly Entry[]): Channel {
  const numbered = entries.map((entry, index) => (entry.index === index ? entry : { ...entry, index }));
  basedOn(numbered, channel.entries);
  return { ...channel, entries: numbered };
}

/** The installations of a package that reach a head. */
function arrivingIn(world: World, ofPackage: Package): InstallationGroup[] {
  return installationGroups(world, ofPackage).map((group) => ({
    ...group,
    installed: group.installed.filter((one) => upgradePathOf(world.foresight, group, one).arrives),
  }));
}

/** A package with changed channels, and with the bundles of the past that their entries bring back. */
function withChannels(ofPackage: Package, changed: readonly Channel[], past: World | undefined): Package {
  const old = past?.catalog.packages.get(ofPackage.name)?.bundles;
  // The same map is kept while no bundle is added: what was computed for it then still holds.
  let { bundles } = ofPackage;
  let restored: Map<string, Bundle> | undefined;
  for (const { entries } of changed) {
    for (const { name } of entries) {
      const bundle = bundles.has(name) ? undefined : old?.get(name);
      if (!bundle) continue;
      restored ??= new Map(bundles);
      bundles = restored.set(name, bundle);
    }
  }
  const channels = new Map([
    ...ofPackage.channels,
    ...changed.map((channel) => [channel.name, channel] as const),
  ]);
  return packageWith(ofPackage, { channels, bundles });
}

/**
 * Foresight for a world in which one package is otherwise.
 *
 * @param ofPackage the package then; undefined for a catalog without it
 */
export function foresightWith(world: World, name: string, ofPackage: Package | undefined): Foresight {
  const { scope, source } = world.foresight;
  const packages = new Map(source.catalog.packages);
  if (ofPackage) packages.set(name, ofPackage);
  else packages.delete(name);
  const catalog: Catalog = { ...source.catalog, packages };
  const changed = { ...source, catalog };
  const catalogs = scope.catalogs.map((one) => (one === source ? changed : one));
  return foresightOf({ ...scope, catalogs }, changed);
}
