/** Installations that lose their upgrade path when clusters get the next platform version, under each OLM version. */
import { headOf } from '../fbc/channel.ts';
import { type Installed, installedOf } from '../fbc/edge.ts';
import type { Bundle, Channel } from '../fbc/model.ts';
import { isHeldBack, type Minor } from '../fbc/openshift.ts';
import type { UpgradePath } from '../olm/foresight/foresight.ts';
import {
  clusterInstallations,
  publishedInstallations,
  withoutChannels,
} from '../olm/foresight/installation.ts';
import { type Change, checkedPackages, type Olm, upgradePathOf, type World } from '../olm/foresight/world.ts';
import { endText } from './message-text.ts';

/** Installations of a channel that are lost when their clusters go to another version of the platform. */
export interface Loss {
  readonly channel: Channel;
  readonly installed: Installed;
  readonly to: World;
  /** Whether those are asked who select the channel, or those who select none. */
  readonly selects: 'channel' | 'none';
  readonly olm: Olm;
  /** The loss: the package, the channel, or the upgrade path under one OLM version. */
  readonly what: 'package' | 'channel' | Olm;
  readonly why: string;
}

/** Kinds of losses, the most serious first. */
export const WORST_FIRST: readonly Loss['what'][] = ['package', 'channel', 'v0', 'v1'];

/**
 * How much is lost among what can be lost under the same OLM, 0 for the most: who had lost more has not lost anything
 * new. Under OLM v1, a missing channel is only an upgrade path that ends.
 */
export function rankOf({ what, olm }: Loss): number {
  return WORST_FIRST.filter(
    (one) => one === 'package' || one === olm || (olm === 'v0' && one === 'channel'),
  ).indexOf(what);
}

/** Losses at the nearest platform version that has any, by OLM version, for subscriptions with and without a channel. */
export function nearestLosses(world: World): Loss[] {
  return headsIn(world).flatMap((head) => {
    const found = stepsOf(world).flatMap((to) => lossesOf(world, to, head));
    // The losses at the next platform version come first. A missing package is missing with and without a channel.
    const isFirst = (loss: Loss): boolean =>
      found.find(
        (one) => (one.selects === loss.selects || one.what === 'package') && one.olm === loss.olm,
      ) === loss;
    return found.filter(isFirst);
  });
}

/** Losses at any of the platform versions. */
export function lossesAtAll(world: World): Loss[] {
  return headsIn(world).flatMap((head) => stepsOf(world).flatMap((to) => lossesOf(world, to, head)));
}

interface Head {
  readonly channel: Channel;
  readonly bundle: Bundle;
}

/** Only heads are simulated: older versions of a channel can upgrade to the head first. */
function headsIn(world: World): Head[] {
  return checkedPackages(world).flatMap((ofPackage) =>
    [...ofPackage.channels.values()].flatMap((channel) => {
      const head = headOf(channel);
      const bundle = head && ofPackage.bundles.get(head.name);
      return bundle ? [{ channel, bundle }] : [];
    }),
  );
}

/** What a head loses in the next catalog. Nothing is lost if it keeps clusters from that version of the platform. */
function lossesOf(world: World, to: World, { channel, bundle }: Head): Loss[] {
  if (isHeldBack(bundle, to.platform)) return [];
  const installed = installedOf(bundle);
  const next = to.catalog.packages.get(bundle.package);
  return [...world.olm].sort().flatMap((olm): Loss[] => {
    const found = { channel, installed, to, olm };
    if (!next || next.channels.size === 0)
      return [{ ...found, selects: 'channel', what: 'package', why: 'the package is missing' }];
    const why = lostWithoutChannel(found, world);
    return [
      ...lostBySelecting(found, world),
      ...(why === undefined ? [] : [{ ...found, ...underOlm(olm, why), selects: 'none' as const }]),
    ];
  });
}

/** An installation, and where its cluster goes. */
type LeavingInstallation = Pick<Loss, 'channel' | 'installed' | 'to' | 'olm'>;

function underOlm(olm: Olm, why: string): Pick<Loss, 'what' | 'why'> {
  return { what: olm, why: `under OLM ${olm} ${why}` };
}

/** Losses of subscriptions to the channel of a head. */
function lostBySelecting(leaving: LeavingInstallation, world: World): Loss[] {
  const { channel, installed, to, olm } = leaving;
  const { name, package: packageName } = channel;
  const found = { ...leaving, selects: 'channel' as const };
  if (olm === 'v0' && !to.catalog.packages.get(packageName)?.channels.has(name)) {
    const why = 'the channel is missing, so OLM v0 cannot resolve anything in the namespace';
    return [{ ...found, what: 'channel', why }];
  }
  const following = { olm, package: packageName, channel: name, onlyChannel: true };
  const [now, then] = [world, to].map(({ foresight }) => upgradePathOf(foresight, following, installed));
  if (!now || !then) return [];
  const why = lostEnd(endOfPath(now), endOfPath(then), () => `it never reaches the head: ${endText(then)}`);
  return why === undefined ? [] : [{ ...found, ...underOlm(olm, why) }];
}

/** Losses of installations without a channel at the end of their upgrades. */
function lostWithoutChannel(
  { channel, installed, to, olm }: LeavingInstallation,
  world: World,
): string | undefined {
  const [now, then] = [world, to].map((one) => endIn(one, { olm, package: channel.package }, installed));
  // A head that is upgraded to that of another channel leaves the catalog from there.
  if (!now || !then || now.at.name !== installed.name) return undefined;
  return lostEnd(now, then, () => `it never reaches a head: ${endText(then.path)}`);
}

/** The last version of an upgrade path. */
interface PathEnd {
  readonly at: Installed;
  readonly arrives: boolean;
  /** Why resolution fails at once, if it does. */
  readonly fails: string | undefined;
  readonly path: UpgradePath;
}

function endOfPath(path: UpgradePath): PathEnd {
  const { next, end, arrives } = path;
  return { at: end, arrives, fails: next.kind === 'fails' ? next.reason.text : undefined, path };
}

/** The last version of an installation that selects no channel. */
function endIn(
  world: World,
  { olm, package: name }: { readonly olm: Olm; readonly package: string },
  installed: Installed,
): PathEnd {
  return endOfPath(upgradePathOf(world.foresight, { olm, package: name, channel: '' }, installed));
}

/**
 * Why an existing upgrade path would be lost; undefined if it is kept, or was lost before.
 *
 * @param endReason why the path then ends short of a head
 */
function lostEnd(now: PathEnd, then: PathEnd, endReason: () => string): string | undefined {
  if (then.fails !== undefined)
    return now.fails === undefined ? `resolution fails: ${then.fails}` : undefined;
  return then.arrives || !now.arrives ? undefined : endReason();
}

/** A merge, from both sides. */
interface Sides {
  readonly before: World;
  readonly after: World;
}

/** Whether anybody gets to the bundle of a loss who got to a head before the merge. */
export function isReached(loss: Loss, sides: Sides): boolean {
  return formerHeads(loss, sides).length > 0;
}

/** Whether anybody gets there who would have lost nothing before the merge. */
export function isReachedFromSafety(loss: Loss, sides: Sides): boolean {
  return formerHeads(loss, sides).some((at) => !wasLost(loss, at, sides));
}

/** The heads that installations got to before the merge which end at the bundle of a loss with it. */
function formerHeads(loss: Loss, { before, after }: Sides): Installed[] {
  const { channel, installed, selects } = loss;
  const all = publishedInstallations(before, channel.package);
  const asked =
    selects === 'none'
      ? withoutChannels(all)
      : all.filter((one) => one.channel === channel.name).map((one) => one.installed);
  return asked.flatMap((one) => {
    if (endFor(loss, after, one).at.name !== installed.name) return [];
    const was = endFor(loss, before, one);
    return was.arrives ? [was.at] : [];
  });
}

/**
 * Where upgrades end for an installation: in the channel that it selects alone, or where OLM leads it if it selects
 * none.
 */
function endFor({ selects, olm, channel }: Loss, world: World, installed: Installed): PathEnd {
  if (selects === 'none') return endIn(world, { olm, package: channel.package }, installed);
  const following = { olm, package: channel.package, channel: channel.name, onlyChannel: true };
  return endOfPath(upgradePathOf(world.foresight, following, installed));
}

/**
 * Whether an installation was lost before the merge as well. If the merge adds the package to the next catalog, the loss
 * counts as new: its author decides which versions can go on.
 */
function wasLost(loss: Loss, at: Installed, { before }: Sides): boolean {
  const { channel, to } = loss;
  const toBefore = before.following.find(({ name }) => name === to.name);
  const bundle = before.catalog.packages.get(channel.package)?.bundles.get(at.name);
  if (!toBefore || (bundle && isHeldBack(bundle, to.platform))) return false;
  const isThere = (toBefore.catalog.packages.get(channel.package)?.channels.size ?? 0) > 0;
  return isThere && !endFor(loss, toBefore, at).arrives;
}

// Clusters that go to the next version of the platform before OLM has made their upgrades: an administrator approves
// each of them, or does not wait.

/** A version that is not the last one in its catalog, and that loses its way to a head in the next one. */
interface EarlyLoss {
  readonly channel: string;
  readonly installed: Installed;
  readonly to: World;
  readonly olm: Olm;
}

/**
 * Installations that would lose their upgrade path if their cluster updated the platform before them.
 *
 * @param name of a package in the catalog that clusters leave
 */
export function earlyLosses({ before, after }: Change, name: string): EarlyLoss[] {
  const bundles = before.catalog.packages.get(name)?.bundles;
  return stepsOf(after).flatMap((to) => {
    const was = before.following.find((other) => other.name === to.name);
    const channels = was?.catalog.packages.get(name)?.channels;
    if (!was || !channels || !to.catalog.packages.has(name)) return [];
    return [...after.olm].sort().flatMap((olm) => {
      // What its own clusters have is compared there.
      const own = new Set(clusterInstallations(was, name, olm).map(({ installed }) => installed.name));
      return publishedInstallations(before, name).flatMap(({ channel, installed }): EarlyLoss[] => {
        const bundle = bundles?.get(installed.name);
        if (!channels.has(channel) || own.has(installed.name)) return [];
        if (bundle && isHeldBack(bundle, to.platform)) return [];
        const following = { package: name, channel, olm, onlyChannel: true };
        const isLost =
          upgradePathOf(was.foresight, following, installed).arrives &&
          !upgradePathOf(to.foresight, following, installed).arrives;
        return isLost ? [{ channel, installed, to, olm }] : [];
      });
    });
  });
}

// Upgrades of the platform, which take clusters from one catalog to the next.

/**
 * Whether clusters may go from one version to another at once, past the one between them: from an even minor version to
 * the next even one.
 *
 * @see https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/updating_clusters (Control Plane Only updates)
 */
export function mayPassOne(from: Minor | undefined, to: Minor | undefined): boolean {
  return from !== undefined && from.minor % 2 === 0 && to?.minor === from.minor + 2;
}

/** The catalogs that clusters go to in one step: the next one, and the one behind it where they may pass the next. */
export function stepsOf({ platform, following: [next, second] }: World): World[] {
  const passed = second && mayPassOne(platform, second.platform) ? [second] : [];
  return [...(next ? [next] : []), ...passed];
}
