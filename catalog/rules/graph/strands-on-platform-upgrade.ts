import { headOf } from '../../fbc/channel.ts';
import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { checkedPackages, type Olm, type World } from '../../olm/foresight/world.ts';
import { placeOfHead } from '../finding-location.ts';
import { endText, grouped, listed, versionsOf } from '../message-text.ts';
import { isHeldBack, stepsOf } from '../platform-upgrade.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/strands-on-platform-upgrade',
  severity: 'error',
  summary: 'Installed versions have an upgrade path in the catalogs of the next platform versions',
  foresee(world, report) {
    tell(lossesOf(world), { world, report, severity: 'warning' });
  },
  compare({ before, after, packages }, report) {
    const touched = new Set(packages);
    const known = new Map(lossesOf(before).map((loss) => [keyOf(loss), WORST.indexOf(loss.what)]));
    const isFresh = (loss: Loss): boolean =>
      WORST.indexOf(loss.what) < (known.get(keyOf(loss)) ?? WORST.length) || isBrought(before, loss);
    const fresh = lossesOf(after).filter((loss) => touched.has(loss.channel.package) && isFresh(loss));
    // Where a package or a channel is new nobody has it: what is lost later is not what the merge takes.
    const [lost, warned] = partition(
      fresh,
      (loss) => isInstallable(before, loss.channel) && (isDefault(before, loss) || !isBrought(before, loss)),
    );
    tell(lost, { world: after, report, severity: 'error' });
    tell(warned, { world: after, report, severity: 'warning' });
  },
};

/** Installations of a channel that are lost when their clusters go to another version of the platform. */
interface Loss {
  readonly channel: Channel;
  readonly installed: Installed;
  readonly to: World;
  /** What is lost first. */
  readonly what: 'package' | 'channel' | Olm;
  readonly why: string;
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** Whether a world has anything to install in a channel of that name. */
function isInstallable({ catalog }: World, { package: of, name }: Channel): boolean {
  const ofPackage = catalog.packages.get(of);
  return ofPackage?.channels.get(name)?.entries.some((entry) => ofPackage.bundles.has(entry.name)) ?? false;
}

/** Whether the merge brings the package to the next catalog: whoever writes it there decides who gets on. */
function isBrought({ following }: World, { channel, to, what }: Loss): boolean {
  const next = following.find(({ name }) => name === to.name);
  return what !== 'package' && (next?.catalog.packages.get(channel.package)?.channels.size ?? 0) === 0;
}

/** Whether subscriptions get the channel of a loss unless they name another: others may end with a platform's version. */
function isDefault({ catalog }: World, { channel }: Loss): boolean {
  return catalog.packages.get(channel.package)?.defaultChannel === channel.name;
}

/** What can be lost, the worst first: who had lost more has not lost anything new. */
const WORST: readonly Loss['what'][] = ['package', 'channel', 'v0', 'v1'];

function keyOf({ channel, to }: Loss): string {
  return JSON.stringify([channel.package, channel.name, to.name]);
}

interface PlatformReport {
  readonly world: World;
  readonly report: Report;
  readonly severity: 'warning' | 'error';
}

/** Tells what is lost, equal losses of a package's channels together. */
function tell(losses: readonly Loss[], { world, report, severity }: PlatformReport): void {
  const key = ({ channel, to, what, why }: Loss): string =>
    JSON.stringify([channel.package, to.name, what, why]);
  for (const group of grouped(losses, key)) {
    const [first] = group;
    if (!first) continue;
    const { channel, to, what, why } = first;
    const versions = versionsOf(group.map(({ installed }) => installed));
    const channels = [...new Set(group.map((loss) => quoted(loss.channel.name)))];
    const message = `when clusters upgrade from ${world.name} to ${to.name}, ${listed(versions)} of package ${quoted(channel.package)} (channel ${listed(channels)}) ${versions.length === 1 ? 'is' : 'are'} stranded: ${why}`;
    const hint = `publish the package, the channel and a successor of ${listed(versions)} in ${to.name} as well, or set olm.maxOpenShiftVersion so that clusters do not upgrade yet`;
    report(message, placeOfHead(channel), {
      package: channel.package,
      channel: channel.name,
      subject: `${to.name} ${what}`,
      installed: versions,
      severity,
      hint,
    });
  }
}

/** What is lost at the nearest version where anything is. */
function lossesOf(world: World): Loss[] {
  return checkedPackages(world).flatMap((ofPackage) =>
    [...ofPackage.channels.values()].flatMap((channel) => {
      for (const to of stepsOf(world)) {
        const loss = lossOf(world, to, { ofPackage, channel });
        if (loss.length > 0) return loss;
      }
      return [];
    }),
  );
}

/**
 * Only the head is asked: older versions of the channel can go there first. Clusters whose
 * head holds the platform back never get to the other catalog with it.
 */
function lossOf(
  world: World,
  to: World,
  { ofPackage, channel }: { ofPackage: Package; channel: Channel },
): Loss[] {
  const head = headOf(channel);
  const bundle = head && ofPackage.bundles.get(head.name);
  if (!bundle || isHeldBack(bundle, to.platform)) return [];
  const lost = whatIsLost(world, to, { channel, bundle });
  return lost ? [{ channel, installed: installedOf(bundle), to, ...lost }] : [];
}

function whatIsLost(
  world: World,
  to: World,
  { channel, bundle }: { channel: Channel; bundle: Bundle },
): Pick<Loss, 'what' | 'why'> | undefined {
  const next = to.catalog.packages.get(bundle.package);
  if (!next || next.channels.size === 0) return { what: 'package', why: 'the package is missing' };
  const place = { package: bundle.package, channel: channel.name };
  const selection = { package: bundle.package, channels: [] };
  const installed = installedOf(bundle);
  if (world.olm.has('v0')) {
    if (!next.channels.has(channel.name)) {
      return {
        what: 'channel',
        why: 'the channel is missing, so OLM v0 cannot resolve anything in the namespace',
      };
    }
    const why = lostPath(world.foresight.v0(place, installed), to.foresight.v0(place, installed));
    if (why !== undefined) return { what: 'v0', why: `under OLM v0 ${why}` };
  }
  if (!world.olm.has('v1')) return undefined;
  const why = lostPath(world.foresight.v1(selection, installed), to.foresight.v1(selection, installed));
  return why === undefined ? undefined : { what: 'v1', why: `under OLM v1 ${why}` };
}

/** Why an existing upgrade path would be lost. */
function lostPath(now: UpgradePath, then: UpgradePath): string | undefined {
  if (then.next.kind === 'fails')
    return now.next.kind === 'fails' ? undefined : `resolution fails: ${then.next.reason.text}`;
  return then.arrives || !now.arrives ? undefined : `it never reaches the head: ${endText(then)}`;
}
