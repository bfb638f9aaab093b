/**
 * The proof of an edit: what becomes of every installation that a catalog knows, under both resolvers, before
 * and after. An installation is every entry of every channel, and everything that was ever published there.
 */
import { hasChain } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { tryParseVersion } from '../../version/version.ts';
import { foresightWith } from '../foresight/fix-trial.ts';
import type { UpgradePath } from '../foresight/foresight.ts';
import type { InstallationGroup } from '../foresight/installation.ts';
import { type Following, upgradePathOf, type World } from '../foresight/world.ts';
import { compareVersionReleases, withRelease } from '../resolve/release.ts';
import { type Advisory, affectedBundles, hasVersion, isAffected } from './advisory.ts';
import { hasNoEdges } from './package-edit.ts';

/** An installation with its upgrade path before and after an edit. */
export interface ProvedInstallation extends Following {
  readonly installed: Installed;
  readonly isAffected: boolean;
  readonly before: UpgradePath;
  readonly after: UpgradePath;
  /** What the installation lacks after the edit; undefined if it lacks nothing. */
  readonly missing: string | undefined;
}

export interface Proof {
  /** Whether opm accepts the package, and no version that the advisory forbids can be installed. */
  readonly sound: boolean;
  readonly all: readonly ProvedInstallation[];
  /** Installations of versions without an advisory that lose their upgrade path. */
  readonly strandedOthers: readonly ProvedInstallation[];
  /** Installations of the versions of the advisory that get no upgrade path away from them. */
  readonly strandedAffected: readonly ProvedInstallation[];
  /** Installations that clusters move to a lower version, which they did not before; none where the advisory allows it. */
  readonly downgraded: readonly ProvedInstallation[];
}

/**
 * Proves an edit.
 *
 * @param after the package after it; undefined where it is removed
 * @param groups the installations to look at
 */
export function proveEdit(
  world: World,
  { before, after, advisory }: { before: Package; after: Package | undefined; advisory: Advisory },
  groups: readonly InstallationGroup[],
): Proof {
  const foresight = foresightWith(world, before.name, after);
  const all = groups.flatMap(({ installed, ...following }) =>
    installed.map((one): ProvedInstallation => {
      const paths = {
        before: upgradePathOf(world.foresight, following, one),
        after: upgradePathOf(foresight, following, one),
      };
      const state = { ...following, installed: one, isAffected: isAffected(advisory, one), ...paths };
      return { ...state, missing: missingOf(state, { after, advisory }) };
    }),
  );
  const stuck = all.filter(({ missing }) => missing !== undefined);
  return {
    sound: isSound(before, after) && meetsAdvisory(advisory, after),
    all,
    strandedOthers: stuck.filter((one) => !one.isAffected),
    strandedAffected: stuck.filter((one) => one.isAffected),
    downgraded: all.filter((one) => isLowered(one) && !(one.isAffected && advisory.allowDowngrade)),
  };
}

/** Whether a package has what its advisory asks of the catalog itself. */
function meetsAdvisory(advisory: Advisory, after: Package | undefined): boolean {
  // A package that is gone installs nothing.
  if (!after) return true;
  const affected = [...affectedBundles(advisory, after)];
  if (advisory.action === 'yank') {
    const listed = [...after.channels.values()].some(({ entries }) =>
      entries.some(({ name }) => affected.includes(name)),
    );
    return affected.length === 0 && !listed;
  }
  if (advisory.action === 'block-upgrade') {
    // Edges are written at their target: to an entry without any, no upgrade leads.
    return [...after.channels.values()].every(({ entries }) =>
      entries.every((entry) => !affected.includes(entry.name) || hasNoEdges(entry)),
    );
  }
  const deprecates = advisory.action === 'deprecate' || advisory.to?.channel !== undefined;
  return !deprecates || affected.every((name) => after.deprecatedBundles.has(name));
}

/**
 * Whether opm accepts the package after an edit. A channel that the edit leaves alone, or that opm refused before, does
 * not count.
 */
function isSound(before: Package, after: Package | undefined): boolean {
  if (!after) return true;
  if (!after.channels.has(after.defaultChannel) && before.channels.has(before.defaultChannel)) return false;
  return [...after.channels].every(([name, channel]) => {
    const old = before.channels.get(name);
    return old === channel || (old && !hasChain(old)) || hasChain(channel);
  });
}

type EditedInstallation = Omit<ProvedInstallation, 'missing'>;

/** What an installation lacks of what the advisory promises, or of what it had before. */
function missingOf(
  state: EditedInstallation,
  { after, advisory }: { after: Package | undefined; advisory: Advisory },
): string | undefined {
  return state.isAffected ? missingOfAffected(state, after, advisory) : missingOfOthers(state, advisory);
}

/** What an affected installation does not get of what the advisory promises; undefined if it gets all. */
function missingOfAffected(
  state: EditedInstallation,
  ofPackage: Package | undefined,
  advisory: Advisory,
): string | undefined {
  const { action, to } = advisory;
  // A blocked version that stays in the catalog may stay on clusters, too; one that is removed needs a way out.
  if (action === 'yank' || (action === 'block-upgrade' && !isOffered(state, ofPackage))) {
    return isAway(state, advisory) ? undefined : whyEnds(state.after);
  }
  if (action === 'redirect' && to && reachesInstallation(state, ofPackage, to)) {
    return isRedirected(state, advisory) ? undefined : 'it does not move to the version of the advisory';
  }
  return missingOfOthers(state, advisory);
}

/** Whether the place where an installation gets its upgrades still has it. */
function isOffered({ channel, installed }: EditedInstallation, ofPackage: Package | undefined): boolean {
  if (channel === '') return ofPackage?.bundles.has(installed.name) === true;
  return ofPackage?.channels.get(channel)?.entries.some(({ name }) => name === installed.name) === true;
}

/** Whether the next step leaves the versions of the advisory. */
function isAway({ installed, after }: EditedInstallation, advisory: Advisory): boolean {
  const { next } = after;
  if (next.kind !== 'upgrade' || isAffected(advisory, next.to)) return false;
  return advisory.allowDowngrade || !isLower(next.to, installed);
}

/** Whether a redirection reaches those who get their upgrades from a place. */
function reachesInstallation(
  { olm, channel, onlyChannel }: EditedInstallation,
  ofPackage: Package | undefined,
  { version, channel: wanted }: NonNullable<Advisory['to']>,
): boolean {
  // An extension that selects no channel gets upgrades from all of them.
  const seesAllChannels = olm === 'v1' && onlyChannel !== true;
  if (wanted !== undefined) return seesAllChannels || channel === wanted;
  return seesAllChannels || (ofPackage !== undefined && targetIn(ofPackage, channel, version) !== undefined);
}

/** The bundle of a version in a channel. */
export function targetIn(
  { channels, bundles }: Package,
  channel: string,
  version: string | undefined,
): Installed | undefined {
  const entries = channels.get(channel)?.entries ?? [];
  return entries
    .map(({ name }) => bundles.get(name))
    .find((bundle) => bundle !== undefined && version !== undefined && hasVersion(bundle, version));
}

/**
 * Whether the next step is the wanted one. A step that was there before may also lead beyond the wanted version. With no
 * wanted version, any step that is allowed will do, and so will a head, which has none.
 */
function isRedirected(
  { installed, before, after }: EditedInstallation,
  { to = {}, allowDowngrade }: Advisory,
): boolean {
  const { next } = after;
  if (next.kind !== 'upgrade') return to.version === undefined && after.arrives;
  if (isLower(next.to, installed) && !allowDowngrade) return false;
  if (to.version === undefined || hasVersion(next.to, to.version)) return true;
  const target = { version: tryParseVersion(to.version) };
  const isSame = before.next.kind === 'upgrade' && before.next.to.name === next.to.name;
  return isSame && !isLower(next.to, target) && !isLower(target, installed);
}

/**
 * What an edit takes from an installation that is not affected: its upgrade path, or that it resolves without an error.
 * Undefined if nothing.
 */
function missingOfOthers(
  { before, after, installed }: EditedInstallation,
  advisory: Advisory,
): string | undefined {
  const { next } = after;
  if (next.kind === 'upgrade') {
    const blocks = advisory.action === 'block-upgrade' && !isAffected(advisory, installed);
    if (blocks && isAffected(advisory, next.to)) return 'it upgrades to a version of the advisory';
    const wentDown = before.next.kind === 'upgrade' && isLower(before.next.to, installed);
    if (isLower(next.to, installed) && !wentDown) return `it is downgraded to ${next.to.name}`;
    return before.arrives && !after.arrives ? whyEnds(after) : undefined;
  }
  if (after.arrives) return undefined;
  const wasBetter = before.arrives || before.next.kind === 'upgrade';
  return wasBetter || (next.kind === 'fails' && before.next.kind !== 'fails') ? whyEnds(after) : undefined;
}

/** Whether an edit brings a move to a lower version, at once or in a later step. */
function isLowered({ before, after, installed }: EditedInstallation): boolean {
  return lowersTo(after, installed) && !lowersTo(before, installed);
}

function lowersTo({ next, end }: UpgradePath, installed: Installed): boolean {
  return next.kind === 'upgrade' && (isLower(next.to, installed) || isLower(end, installed));
}

/** Whether an upgrade leads to a lower version or release; false where a version is unknown. */
function isLower(to: Pick<Installed, 'version'>, from: Pick<Installed, 'version'>): boolean {
  return (
    to.version !== undefined &&
    from.version !== undefined &&
    compareVersionReleases(withRelease(to.version), withRelease(from.version)) < 0
  );
}

function whyEnds({ last }: UpgradePath): string {
  return last.kind === 'circle' ? 'the upgrade path goes in a circle' : last.reason.text;
}
