import type { Channel } from '../../fbc/model.ts';
import { partition } from '../../go/grouped.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import {
  earlyLosses,
  isReached,
  isReachedFromSafety,
  type Loss,
  lossesAtAll,
  nearestLosses,
  rankOf,
  WORST_FIRST,
} from '../platform-losses.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/strands-on-platform-upgrade',
  effect: { one: 'is stranded by a platform upgrade', many: 'are stranded by a platform upgrade' },
  severity: 'error',
  summary: 'Reports installed versions without an upgrade path in the catalogs of the next platform versions',
  harm: { rank: 7, kind: 'later' },
  reads: ['catalogs', 'history'],
  checkWorld(world, report) {
    reportPlatformLosses(eachChannelOnce(nearestLosses(world)), { world, report, severity: 'warning' });
  },
  compare(change, report) {
    const { before, after, packages } = change;
    const touched = new Set(packages);
    // A loss at a later platform version is not new if the merge repairs a nearer version.
    const known = new Map(lossesAtAll(before).map((loss) => [keyOf(loss), rankOf(loss)]));
    const isWorse = (loss: Loss): boolean =>
      rankOf(loss) < (known.get(keyOf(loss)) ?? WORST_FIRST.length) || isNewInNext(before, loss);
    const isFresh = (loss: Loss): boolean =>
      // An extension without a channel may come from the head of any channel.
      loss.selects === 'none'
        ? isReachedFromSafety(loss, { before, after })
        : isWorse(loss) && (!isInstallable(before, loss.channel) || isReached(loss, { before, after }));
    const losses = nearestLosses(after).filter((loss) => touched.has(loss.channel.package));
    const fresh = losses.filter(isFresh);
    // No cluster has a new package or channel yet: the merge takes nothing away from it.
    const [lost, warned] = partition(
      fresh,
      (loss) =>
        (loss.selects === 'none' || isInstallable(before, loss.channel)) &&
        (isDefault(after, loss) || !isNewInNext(before, loss)),
    );
    const errors = eachChannelOnce(lost);
    const reported = new Set(errors.map(placeOf));
    const warnings = eachChannelOnce(warned).filter((loss) => !reported.has(placeOf(loss)));
    reportPlatformLosses(errors, { world: after, report, severity: 'error' });
    reportPlatformLosses(warnings, { world: after, report, severity: 'warning' });
    for (const name of packages) reportEarlyLosses(change, name, report);
  },
};

/**
 * Warns of clusters that update the platform before their operators and then have no upgrade path. Nobody knows which
 * clusters do that.
 */
function reportEarlyLosses(change: Change, name: string, report: Report): void {
  const { after } = change;
  const location = placeOfPackage(after, name);
  // Another rule reports a package that the merge removes.
  if (!location) return;
  for (const group of grouped(earlyLosses(change, name), ({ to, channel }) =>
    JSON.stringify([to.name, channel]),
  )) {
    const [first] = group;
    if (!first) continue;
    const { to, channel } = first;
    const versions = versionsOf(group.map(({ installed }) => installed));
    const generations = [...new Set(group.map(({ olm }) => olm))].sort().join(' and ');
    const message = `clusters that upgrade from ${after.name} to ${to.name} before they upgrade ${listed(versions)} of package ${quoted(name)} (channel ${quoted(channel)}) no longer reach the head there under OLM ${generations}`;
    report(message, location, {
      package: name,
      channel,
      subject: `${to.name} early`,
      installed: versions,
      severity: 'warning',
      hint: `let the head in ${to.name} replace or skip ${listed(versions)}`,
    });
  }
}

/** Whether a world has anything to install in a channel of that name. */
function isInstallable({ catalog }: World, { package: packageName, name }: Channel): boolean {
  const ofPackage = catalog.packages.get(packageName);
  return ofPackage?.channels.get(name)?.entries.some((entry) => ofPackage.bundles.has(entry.name)) ?? false;
}

/** Whether the merge adds the package to the next catalog: its author then decides which versions can go on. */
function isNewInNext({ following }: World, { channel, to, what }: Loss): boolean {
  const next = following.find(({ name }) => name === to.name);
  return what !== 'package' && (next?.catalog.packages.get(channel.package)?.channels.size ?? 0) === 0;
}

/** Whether subscriptions get the channel of a loss unless they name another: others may end with a platform's version. */
function isDefault({ catalog }: World, { channel }: Loss): boolean {
  return catalog.packages.get(channel.package)?.defaultChannel === channel.name;
}

function keyOf({ channel, to, selects, olm }: Loss): string {
  return JSON.stringify([channel.package, channel.name, to.name, selects, olm]);
}

/**
 * The worst loss of each channel. Where those lose who select a channel, nothing more is reported of those who select none.
 */
function eachChannelOnce(losses: readonly Loss[]): Loss[] {
  const weight = (loss: Loss): number =>
    (loss.selects === 'none' ? WORST_FIRST.length : 0) + WORST_FIRST.indexOf(loss.what);
  const worst = new Map<string, Loss>();
  for (const loss of losses) {
    const known = worst.get(placeOf(loss));
    if (!known || weight(loss) < weight(known)) worst.set(placeOf(loss), loss);
  }
  return [...worst.values()];
}

function placeOf({ channel, to }: Loss): string {
  return JSON.stringify([channel.package, channel.name, to.name]);
}

interface PlatformReport {
  readonly world: World;
  readonly report: Report;
  readonly severity: 'warning' | 'error';
}

/** Reports losses, equal ones of several channels of a package together. */
function reportPlatformLosses(losses: readonly Loss[], { world, report, severity }: PlatformReport): void {
  const key = ({ channel, to, what, why, selects }: Loss): string =>
    JSON.stringify([channel.package, to.name, what, why, selects]);
  for (const group of grouped(losses, key)) {
    const [first] = group;
    if (!first) continue;
    const { channel, to, what, why } = first;
    const versions = versionsOf(group.map(({ installed }) => installed));
    const channels = [...new Set(group.map((loss) => quoted(loss.channel.name)))];
    const message = `when clusters upgrade from ${world.name} to ${to.name}, ${listed(versions)} of package ${quoted(channel.package)} (channel ${listed(channels)}${first.selects === 'none' ? ', selecting none' : ''}) ${versions.length === 1 ? 'is' : 'are'} stranded: ${why}`;
    const hint = `publish the package, the channel and a successor of ${listed(versions)} in ${to.name} as well, or set olm.maxOpenShiftVersion so that clusters do not upgrade yet`;
    report(message, placeOfHead(channel), {
      package: channel.package,
      // What a policy allows in one channel it does not allow in the others.
      ...(channels.length === 1 ? { channel: channel.name } : {}),
      subject: `${to.name} ${what}${first.selects === 'none' ? ' selecting no channel' : ''}`,
      installed: versions,
      severity,
      hint,
    });
  }
}
