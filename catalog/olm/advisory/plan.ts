/**
 * The smallest safe edit of a catalog for an advisory. Edits are tried, and the simulation of both resolvers
 * proves what becomes of every installation. The edit that leaves the fewest without an upgrade path is taken,
 * of several such ones the smallest.
 */
import { hasChain, headOf, supportedChannels } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import { type Channel, type Entry, type Package, packageWith } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { isUnstable } from '../../names.ts';
import { compareVersions } from '../../version/version.ts';
import { compareInstalled, type InstallationGroup, installationGroups } from '../foresight/installation.ts';
import type { World } from '../foresight/world.ts';
import { type Advisory, affectedBundles, isAffected } from './advisory.ts';
import { isEmpty, NO_EDIT, type PackageEdit, packageAfter, sizeOf } from './package-edit.ts';
import { type Proof, type ProvedInstallation, proveEdit, targetIn } from './proof.ts';
import {
  highestEntry,
  packagesWithNewGraphs,
  versionsIn,
  withMoreRanges,
  withMoreSkips,
  withoutEntries,
} from './rewrites.ts';

export interface AdvisoryPlan {
  readonly kind: /** The catalog never had the versions. */
    | 'not affected'
    /** There is nothing left to change. */
    | 'applied'
    | 'edit'
    /** No edit does what the advisory asks. */
    | 'impossible';
  readonly edit: PackageEdit;
  /** The upgrade of every installation; undefined if the catalog never had the versions. */
  readonly proof: Proof | undefined;
  /** Names of bundles whose installations have no upgrade path after the edit, the lowest version first. */
  readonly withoutUpgradePath: readonly string[];
  /** Names of bundles whose installations clusters would move to a lower version, though the advisory does not allow it. */
  readonly downgraded: readonly string[];
  /** Names of the channels whose edges are those of suggest-graph, because no change of single entries does as much. */
  readonly channelsWithNewGraphs: readonly string[];
}

/** Plans what an advisory changes in a catalog. */
export function planOf(world: World, advisory: Advisory): AdvisoryPlan {
  const ofPackage = world.catalog.packages.get(advisory.package);
  const nothing = {
    kind: 'not affected',
    edit: NO_EDIT,
    proof: undefined,
    withoutUpgradePath: [],
    downgraded: [],
    channelsWithNewGraphs: [],
  } as const;
  if (!ofPackage) return nothing;
  const groups = installationGroups(world, ofPackage);
  const affected = affectedBundles(advisory, ofPackage);
  // A version that the catalog no longer has may still be installed.
  const isKnown = groups.some(({ installed }) => installed.some((one) => isAffected(advisory, one)));
  if (!isKnown && affected.size === 0) return nothing;
  const input: PlanInput = { world, advisory, ofPackage, affected, groups };
  const small = bestEdit(input, candidateEdits(input));
  const best = withNewGraphs(input, small);
  if (!best) return { ...nothing, kind: 'impossible' };
  const { edit, proof, channelsWithNewGraphs: regraphed = [] } = best;
  const stuck = [...proof.strandedOthers, ...proof.strandedAffected]
    .map(({ installed }) => installed)
    .sort(compareInstalled);
  const withoutUpgradePath = [...new Set(stuck.map(({ name }) => name))];
  const down = proof.downgraded.map(({ installed }) => installed).sort(compareInstalled);
  const downgraded = [...new Set(down.map(({ name }) => name))];
  return {
    kind: isEmpty(edit) ? 'applied' : 'edit',
    edit,
    proof,
    withoutUpgradePath,
    downgraded,
    channelsWithNewGraphs: regraphed,
  };
}

interface PlanInput {
  readonly world: World;
  readonly advisory: Advisory;
  readonly ofPackage: Package;
  /** Names of the bundles of the advisory that the catalog has. */
  readonly affected: ReadonlySet<string>;
  readonly groups: readonly InstallationGroup[];
}

interface TriedEdit {
  readonly edit: PackageEdit;
  readonly proof: Proof;
  /** Names of channels with new upgrade graphs. */
  readonly channelsWithNewGraphs?: readonly string[];
}

/**
 * Where no change of single entries is sound, or one strands those whom a newer version could help: the best edit on
 * top of new upgrade graphs, if that is better.
 *
 * @param small the best change of single entries; undefined if none is sound
 */
function withNewGraphs(input: PlanInput, small: TriedEdit | undefined): TriedEdit | undefined {
  const { world, ofPackage, affected, advisory } = input;
  const names = brokenChannels(input, small);
  if (names.size === 0) return small;
  // A redirection leads clusters on from the versions, but they may still be installed.
  const avoid = advisory.action === 'redirect' ? new Set<string>() : affected;
  const graphs = packagesWithNewGraphs(world, ofPackage, { names, avoid });
  const tried = graphs.flatMap((regraphed): TriedEdit[] => {
    const written = [...regraphed.channels].map(([name, { entries }]) => [name, entries] as const);
    const changed = changedOnly(ofPackage, new Map(written));
    return candidateEdits({ ...input, ofPackage: regraphed }).map((edit) => {
      const channels = changedOnly(ofPackage, new Map([...changed, ...edit.channels]));
      return { ...tryEdit(input, { ...edit, channels }), channelsWithNewGraphs: [...changed.keys()] };
    });
  });
  const best = bestTriedEdit(input, tried);
  return best && (!small || compareTriedEdits(input, best, small) < 0) ? best : small;
}

/**
 * The channels whose edges must be computed anew: those in which changing single entries leaves somebody behind.
 *
 * @param small the best change of single entries; undefined if none is sound
 */
function brokenChannels(input: PlanInput, small: TriedEdit | undefined): Set<string> {
  const { ofPackage, affected } = input;
  const channels = [...ofPackage.channels.values()];
  const { strandedOthers = [], strandedAffected = [] } = small?.proof ?? {};
  // opm refuses a channel whose entries form no chain of replaces. Only new edges can repair it. Who runs an affected
  // version needs a newer one in any case.
  const isRefused = ({ channel }: ProvedInstallation): boolean =>
    channels.some((one) => (channel === '' || channel === one.name) && !hasChain(one));
  const helped = [
    ...strandedOthers.filter((one) => isRefused(one) || hasNewer(input, one)),
    ...strandedAffected.filter((one) => hasNewer(input, one)),
  ];
  // Nobody is left behind: new edges would only change more.
  if (small && helped.length === 0) return new Set();
  // Installations that select no channel are helped in the channel with the highest head.
  const highestChannel = channelOfHighestHead(ofPackage);
  const named = helped.map(({ channel }) => (channel === '' ? highestChannel : channel));
  // Without a sound change of single entries, the affected versions go only with new edges.
  const isBroken = (channel: Channel): boolean =>
    !hasChain(channel) || (!small && channel.entries.some(({ name }) => affected.has(name)));
  const broken = channels.filter((one) => named.includes(one.name) || isBroken(one));
  return new Set(broken.map(({ name }) => name));
}

/** Whether the place where an installation gets its upgrades has a newer version that is neither affected nor deprecated. */
function hasNewer({ ofPackage, affected }: PlanInput, { channel, installed }: ProvedInstallation): boolean {
  const { channels, bundles, deprecatedBundles } = ofPackage;
  const entries = channel === '' ? [...bundles.values()] : (channels.get(channel)?.entries ?? []);
  return entries.some(({ name }) => {
    const bundle = bundles.get(name);
    const isAllowed = bundle && !affected.has(name) && !deprecatedBundles.has(name);
    return isAllowed && isBelow(installed, bundle);
  });
}

/** An edit with its proof, for all installations or only for those of `groups`. */
function tryEdit(
  { world, advisory, ofPackage, groups: all }: PlanInput,
  edit: PackageEdit,
  groups: readonly InstallationGroup[] = all,
): TriedEdit {
  const after = packageAfter(ofPackage, edit);
  return { edit, proof: proveEdit(world, { before: ofPackage, after, advisory }, groups) };
}

/**
 * The sound edit that leaves the fewest installations without an upgrade path; of several, the smallest.
 *
 * @param groups the installations that it is tried for; all without it
 */
function bestEdit(
  input: PlanInput,
  edits: readonly PackageEdit[],
  groups = input.groups,
): TriedEdit | undefined {
  return bestTriedEdit(
    input,
    edits.map((edit) => tryEdit(input, edit, groups)),
  );
}

/** The best of the sound edits. Of equal ones the first wins, because the simplest are tried first. */
function bestTriedEdit(input: PlanInput, all: readonly TriedEdit[]): TriedEdit | undefined {
  return all
    .filter(({ proof }) => proof.sound)
    .reduce<TriedEdit | undefined>(
      (best, one) => (best && compareTriedEdits(input, best, one) <= 0 ? best : one),
      undefined,
    );
}

/** Orders by who suffers most: downgraded installations, then stranded ones; of equals, the smaller edit is better. */
function compareTriedEdits({ ofPackage }: PlanInput, a: TriedEdit, b: TriedEdit): number {
  return (
    a.proof.downgraded.length - b.proof.downgraded.length ||
    a.proof.strandedOthers.length - b.proof.strandedOthers.length ||
    a.proof.strandedAffected.length - b.proof.strandedAffected.length ||
    sizeOf(ofPackage, a.edit) - sizeOf(ofPackage, b.edit)
  );
}

/** The edits that may carry out an advisory, those that change less first: of equal ones the first is taken. */
function candidateEdits(input: PlanInput): PackageEdit[] {
  const { advisory, affected } = input;
  const deprecations = deprecationsOf(input);
  const unchanged: PackageEdit = { ...NO_EDIT, deprecations };
  switch (advisory.action) {
    case 'deprecate':
      return withRepairs(input, [unchanged]);
    case 'redirect':
      return withRepairs(input, [unchanged, ...redirections(input, unchanged)]);
    case 'block-upgrade':
      return withRepairs(input, [
        unchanged,
        ...rewritesOf(input, { kept: true }),
        ...rewritesOf(input, { kept: false }),
      ]);
    case 'yank':
      // If the catalog no longer has the versions, only clusters that have them installed need a way out.
      return withRepairs(input, affected.size === 0 ? [unchanged] : rewritesOf(input, { kept: false }));
  }
}

/**
 * Why each affected bundle is deprecated, if it is not yet: for every advisory that deprecates, and for one that sends
 * users to another channel, because only a deprecation tells them.
 */
function deprecationsOf({ advisory, affected, ofPackage }: PlanInput): ReadonlyMap<string, string> {
  if (advisory.action !== 'deprecate' && advisory.to?.channel === undefined) return new Map();
  const missing = [...affected].filter((name) => !ofPackage.deprecatedBundles.has(name));
  return new Map(missing.map((name) => [name, advisory.message]));
}

/**
 * Edits that rewrite each channel without the affected versions, as is best for its subscribers.
 *
 * @param kept whether the bundles stay
 */
function rewritesOf(input: PlanInput, { kept }: { readonly kept: boolean }): PackageEdit[] {
  const { ofPackage, affected } = input;
  const channels = new Map<string, readonly Entry[]>();
  for (const channel of ofPackage.channels.values()) {
    if (!channel.entries.some(({ name }) => affected.has(name))) continue;
    const ways = withoutEntries(channel, affected, { ofPackage, kept });
    const groups = inChannel(input, channel.name);
    // Leave other channels out: subscribers of this one do not see them.
    const alone = { ...input, ofPackage: onlyChannel(ofPackage, channel) };
    const edits = ways.map((entries) =>
      channelEdit(alone, new Map([[channel.name, entries]]), { keepBundles: kept }),
    );
    const best = bestEdit(alone, kept ? edits : withRepairs(alone, edits, groups), groups);
    // If no way is sound for the channel alone, take the simplest: the whole edit is proved later.
    const entries = best?.edit.channels.get(channel.name) ?? ways[0];
    // A channel of affected bundles alone that are to stay cannot be written otherwise.
    if (!entries) return [];
    channels.set(channel.name, entries);
  }
  return [channelEdit(input, channels, { keepBundles: kept })];
}

function inChannel({ groups }: PlanInput, channel: string): InstallationGroup[] {
  return groups.filter((one) => one.channel === channel);
}

function onlyChannel(ofPackage: Package, channel: Channel): Package {
  return packageWith(ofPackage, { defaultChannel: '', channels: new Map([[channel.name, channel]]) });
}

/**
 * The edit that gives channels new entries. It also removes the affected bundles that are left in no channel, unless
 * `keepBundles` is set, and replaces a default channel that is left without entries.
 */
function channelEdit(
  { ofPackage, affected }: PlanInput,
  channels: ReadonlyMap<string, readonly Entry[]>,
  { keepBundles }: { readonly keepBundles: boolean },
): PackageEdit {
  const edit: PackageEdit = { ...NO_EDIT, channels };
  const after = packageAfter(ofPackage, edit);
  const listed = new Set(
    [...(after?.channels.values() ?? [])].flatMap(({ entries }) => entries.map(({ name }) => name)),
  );
  const bundles = keepBundles ? [] : [...affected].filter((name) => !listed.has(name));
  const isDefaultGone =
    after !== undefined &&
    ofPackage.channels.has(ofPackage.defaultChannel) &&
    !after.channels.has(ofPackage.defaultChannel);
  const defaultChannel = isDefaultGone ? newDefaultChannel(after) : undefined;
  return { ...edit, bundles: new Set(bundles), defaultChannel };
}

/** The channel that becomes the default one: if possible one for production that is not deprecated. */
function newDefaultChannel(ofPackage: Package): string | undefined {
  const supported = supportedChannels(ofPackage);
  const stable = supported.filter(({ name }) => !isUnstable(name));
  const [best] = [stable, supported].filter((some) => some.length > 0);
  return channelOfHighestHead(ofPackage, best);
}

/** The channel with the highest head: of equal ones, or where no channel has a single head, the first by name. */
function channelOfHighestHead(
  ofPackage: Package,
  some: readonly Channel[] = [...ofPackage.channels.values()],
): string | undefined {
  const channels = some.toSorted((a, b) => compareText(a.name, b.name));
  const heads = channels.flatMap((channel) => headOf(channel) ?? []);
  const top = highestEntry(heads, versionsIn(ofPackage));
  return channels.find((channel) => headOf(channel) === top)?.name;
}

/**
 * Edits that lead affected versions to the version or channel that an advisory names. Two ways to write the same edges are
 * tried, because OLM v0 does not offer a version that is skipped. Of equally good ones, the first counts.
 *
 * @param base the deprecations, to which the new entries are added
 */
function redirections({ advisory, ofPackage, groups }: PlanInput, base: PackageEdit): PackageEdit[] {
  const { to = {}, allowDowngrade } = advisory;
  const targets = [...ofPackage.channels.values()].flatMap((channel) => {
    const isWanted = to.channel === undefined || channel.name === to.channel;
    const head = headOf(channel);
    const target =
      to.version === undefined
        ? head && ofPackage.bundles.get(head.name)
        : targetIn(ofPackage, channel.name, to.version);
    return isWanted && target ? [{ channel, target }] : [];
  });
  // If the advisory names a channel, clusters of all channels move to it.
  const moves = (group: InstallationGroup, channel: Channel): boolean =>
    to.channel !== undefined || group.channel === channel.name || group.channel === '';
  const edit = (write: typeof withMoreSkips): PackageEdit => {
    const channels = targets.map(({ channel, target }) => {
      const here = groups.filter((group) => moves(group, channel));
      const affected = affectedIn(here, advisory).filter(
        (one) => one.name !== target.name && (allowDowngrade || isBelow(one, target)),
      );
      return [channel.name, write(channel.entries, target.name, affected)] as const;
    });
    return { ...base, channels: changedOnly(ofPackage, new Map(channels)) };
  };
  return [edit(withMoreRanges), edit(withMoreSkips)];
}

/** The affected bundles that the groups have installed, each once, the lowest version first. */
function affectedIn(groups: readonly InstallationGroup[], advisory: Advisory): Installed[] {
  const all = groups.flatMap(({ installed }) => installed).filter((one) => isAffected(advisory, one));
  return [...new Map(all.map((one) => [one.name, one])).values()].sort(compareInstalled);
}

/** Whether one version is lower than another; false where one of them is unknown. */
function isBelow(one: Installed, other: Installed): boolean {
  return (
    one.version !== undefined &&
    other.version !== undefined &&
    compareVersions(one.version, other.version) < 0
  );
}

/** Each edit, followed by the same edit with more edges to heads for the installations that it would strand. */
function withRepairs(input: PlanInput, edits: readonly PackageEdit[], groups = input.groups): PackageEdit[] {
  return edits.flatMap((edit) => {
    const { proof } = tryEdit(input, edit, groups);
    const repairs = [withMoreSkips, withMoreRanges].map((write) => repairOf(input, { edit, proof }, write));
    return [edit, ...repairs.flatMap((one) => one ?? [])];
  });
}

/**
 * The edit by which the head of each channel follows the versions that are stuck in it; undefined if none is needed.
 *
 * @param write how the head follows them: by `skips` or by its range
 */
function repairOf(
  input: PlanInput,
  { edit, proof }: TriedEdit,
  write: typeof withMoreSkips,
): PackageEdit | undefined {
  const { ofPackage, advisory } = input;
  const after = packageAfter(ofPackage, edit);
  const stuck = [...proof.strandedOthers, ...proof.strandedAffected];
  if (!after || stuck.length === 0) return undefined;
  const written = new Map(edit.channels);
  const newest = channelOfHighestHead(after);
  for (const channel of after.channels.values()) {
    const head = headOf(channel);
    const bundle = head && after.bundles.get(head.name);
    if (!bundle) continue;
    const here = stuck.filter(
      // Installations that select no channel are helped in the channel with the highest head.
      (one) => one.channel === channel.name || (one.channel === '' && channel.name === newest),
    );
    const reachable = here
      .map(({ installed }) => installed)
      .filter((one) => one.name !== bundle.name)
      .filter((one) => isBelow(one, bundle) || (advisory.allowDowngrade && isAffected(advisory, one)));
    if (reachable.length === 0) continue;
    const unique = [...new Map(reachable.map((one) => [one.name, one])).values()].sort(compareInstalled);
    written.set(channel.name, write(channel.entries, bundle.name, unique));
  }
  return { ...edit, channels: changedOnly(ofPackage, written) };
}

/** The channels that an edit changes. */
function changedOnly(
  { channels }: Package,
  written: ReadonlyMap<string, readonly Entry[]>,
): ReadonlyMap<string, readonly Entry[]> {
  return new Map(
    [...written].filter(([name, entries]) => {
      const old = channels.get(name)?.entries ?? [];
      return JSON.stringify(old.map(membersOf)) !== JSON.stringify(entries.map(membersOf));
    }),
  );
}

function membersOf({ name, replaces, skips, skipRange }: Entry): unknown {
  return [name, replaces, skips, skipRange];
}
