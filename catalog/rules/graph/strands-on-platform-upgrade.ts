import { headOf } from '../../fbc/channel.ts';
import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { type EndWithoutChannel, endWithoutChannel } from '../../olm/foresight/without-channel.ts';
import { checkedPackages, type Olm, upgradePathOf, type World } from '../../olm/foresight/world.ts';
import { placeOfHead } from '../finding-location.ts';
import { endText, grouped, listed, versionsOf } from '../message-text.ts';
import { isHeldBack, stepsOf } from '../platform-upgrade.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/strands-on-platform-upgrade',
  effect: { one: 'is stranded by a platform upgrade', many: 'are stranded by a platform upgrade' },
  severity: 'error',
  summary: 'Reports installed versions without an upgrade path in the catalogs of the next platform versions',
  harm: { rank: 7, kind: 'later' },
  reads: ['catalogs'],
  foresee(world, report) {
    tell(eachChannelOnce(lossesOf(world)), { world, report, severity: 'warning' });
  },
  compare({ before, after, packages }, report) {
    const touched = new Set(packages);
    // What was lost at a later version before is not new where the merge repairs a nearer one.
    const known = new Map(lossesAtAll(before).map((loss) => [keyOf(loss), WORST.indexOf(loss.what)]));
    const isFresh = (loss: Loss): boolean =>
      WORST.indexOf(loss.what) < (known.get(keyOf(loss)) ?? WORST.length) || isBrought(before, loss);
    const losses = lossesOf(after).filter((loss) => touched.has(loss.channel.package));
    const fresh = eachChannelOnce(losses.filter(isFresh));
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
  /** Whether those are asked who select the channel, or those who select none. */
  readonly selects: 'channel' | 'none';
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

function keyOf({ channel, to, selects }: Loss): string {
  return JSON.stringify([channel.package, channel.name, to.name, selects]);
}

/** Where those lose who select a channel, nothing more is told of those who select none. */
function eachChannelOnce(losses: readonly Loss[]): Loss[] {
  const placeOf = ({ channel, to }: Loss): string => JSON.stringify([channel.package, channel.name, to.name]);
  const named = new Set(losses.filter(({ selects }) => selects === 'channel').map(placeOf));
  return losses.filter((loss) => loss.selects === 'channel' || !named.has(placeOf(loss)));
}

interface PlatformReport {
  readonly world: World;
  readonly report: Report;
  readonly severity: 'warning' | 'error';
}

/** Tells what is lost, equal losses of a package's channels together. */
function tell(losses: readonly Loss[], { world, report, severity }: PlatformReport): void {
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
      channel: channel.name,
      subject: `${to.name} ${what}${first.selects === 'none' ? ' selecting no channel' : ''}`,
      installed: versions,
      severity,
      hint,
    });
  }
}

/** What is lost at the nearest version where anything is, of those who select a channel and of those who select none. */
function lossesOf(world: World): Loss[] {
  return headsIn(world).flatMap((head) => {
    const nearest = stepsOf(world).map((to) => lossOf(world, to, head));
    const [named = [], open = []] = (['channel', 'none'] as const).map((selects) =>
      (nearest.find((losses) => losses.some((one) => one.selects === selects)) ?? []).filter(
        (one) => one.selects === selects,
      ),
    );
    return [...named, ...open];
  });
}

/** What is lost at any of the versions. */
function lossesAtAll(world: World): Loss[] {
  return headsIn(world).flatMap((head) => stepsOf(world).flatMap((to) => lossOf(world, to, head)));
}

interface Head {
  readonly channel: Channel;
  readonly bundle: Bundle;
}

/** Only heads are asked: older versions of a channel can go there first. */
function headsIn(world: World): Head[] {
  return checkedPackages(world).flatMap((ofPackage) =>
    [...ofPackage.channels.values()].flatMap((channel) => {
      const head = headOf(channel);
      const bundle = head && ofPackage.bundles.get(head.name);
      return bundle ? [{ channel, bundle }] : [];
    }),
  );
}

/** Clusters whose head holds the platform back never get to the other catalog with it. */
function lossOf(world: World, to: World, head: Head): Loss[] {
  const { channel, bundle } = head;
  if (isHeldBack(bundle, to.platform)) return [];
  const found = { channel, installed: installedOf(bundle), to };
  const next = to.catalog.packages.get(bundle.package);
  if (!next || next.channels.size === 0)
    return [{ ...found, selects: 'channel', what: 'package', why: 'the package is missing' }];
  const named = lostBySelecting(world, to, head);
  const open = lostWithoutChannel(world, to, head);
  // Equal losses are told once.
  const isSame = named?.why === open?.why;
  return [
    ...(named ? [{ ...found, ...named, selects: 'channel' as const }] : []),
    ...(open && !isSame ? [{ ...found, ...open, selects: 'none' as const }] : []),
  ];
}

type Lost = Pick<Loss, 'what' | 'why'> | undefined;

/** What those lose who select the channel of a head. */
function lostBySelecting(world: World, to: World, { channel, bundle }: Head): Lost {
  const { name, package: of } = channel;
  const isThere = to.catalog.packages.get(of)?.channels.has(name) ?? false;
  if (!isThere && world.olm.has('v0'))
    return {
      what: 'channel',
      why: 'the channel is missing, so OLM v0 cannot resolve anything in the namespace',
    };
  const installed = installedOf(bundle);
  return lostUnder(world, (olm) => {
    const following = { olm, package: of, channel: name, onlyChannel: true };
    return lostPath(
      upgradePathOf(world.foresight, following, installed),
      upgradePathOf(to.foresight, following, installed),
    );
  });
}

/** What those lose in addition who select no channel. */
function lostWithoutChannel(world: World, to: World, { channel, bundle }: Head): Lost {
  const selection = { package: channel.package, channels: [] };
  const installed = installedOf(bundle);
  return lostUnder(world, (olm) =>
    olm === 'v0'
      ? lostEnd(
          endWithoutChannel(world, channel.package, installed),
          endWithoutChannel(to, channel.package, installed),
        )
      : lostPath(world.foresight.v1(selection, installed), to.foresight.v1(selection, installed)),
  );
}

function lostUnder({ olm }: World, why: (olm: Olm) => string | undefined): Lost {
  for (const one of ['v0', 'v1'] as const) {
    const lost = olm.has(one) ? why(one) : undefined;
    if (lost !== undefined) return { what: one, why: `under OLM ${one} ${lost}` };
  }
  return undefined;
}

/** Why a subscription without a channel would lose its upgrade path. */
function lostEnd(now: EndWithoutChannel, then: EndWithoutChannel): string | undefined {
  if (then.fails) return now.fails ? undefined : `resolution fails: ${then.fails.reason.text}`;
  return then.arrives || !now.arrives
    ? undefined
    : `it never reaches a head: ${shortName(then.at)} has no successor in any channel`;
}

/** Why an existing upgrade path would be lost. */
function lostPath(now: UpgradePath, then: UpgradePath): string | undefined {
  if (then.next.kind === 'fails')
    return now.next.kind === 'fails' ? undefined : `resolution fails: ${then.next.reason.text}`;
  return then.arrives || !now.arrives ? undefined : `it never reaches the head: ${endText(then)}`;
}
