import { headOf } from '../../fbc/channel.ts';
import { installedOf, shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { namingOf } from '../../fbc/naming.ts';
import { isUnstable } from '../../names.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { compareVersions } from '../../version/version.ts';
import { placeOfHead } from '../finding-location.ts';
import { grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/channel-switch-blocked',
  severity: 'warning',
  summary: 'Reports channels with a newer head to which users at the head of another channel cannot switch',
  harm: { rank: 10, kind: 'some' },
  checkWorld(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of checkedPackages(world)) {
      const stops = stopsIn(ofPackage);
      const heads = new Set(stops.map(({ bundle }) => bundle)).size;
      const [one] = stops;
      if (heads > MOST_HEADS && one) {
        const message = `package ${quoted(ofPackage.name)}: its channels have ${heads} heads, so it was not checked whether users can switch between them: at most ${MOST_HEADS} are compared`;
        report(message, placeOfHead(one.channel), { package: ofPackage.name, hint: 'remove channels' });
        continue;
      }
      const blocked = blockedIn(world, stops, ({ channel }) => isOffered(ofPackage, channel));
      for (const group of grouped(blocked, ({ to }) => to.channel.name)) {
        const [first] = group;
        if (!first) continue;
        const { to } = first;
        const from = listed(
          group.map(({ from: one }) => `${quoted(one.channel.name)} (${shortName(one.bundle)})`),
        );
        const message = `package ${quoted(ofPackage.name)}: users at the head of ${from} cannot switch to the newer channel ${quoted(to.channel.name)} (${shortName(to.bundle)})`;
        const names = [...new Set(group.map(({ from: one }) => one.bundle.name))];
        report(message, placeOfHead(to.channel), {
          package: ofPackage.name,
          channel: to.channel.name,
          installed: [...new Set(group.map(({ from: one }) => shortName(one.bundle)))],
          hint: `add ${listed(names)} to replaces, skips or skipRange of an entry in channel ${to.channel.name}`,
        });
      }
    }
  },
};

/** A channel with its head. */
interface Stop {
  readonly channel: Channel;
  readonly bundle: Bundle;
}

/** Most heads of a package that are compared, each with each other: far more than any package has that people maintain. */
const MOST_HEADS = 200;

/** The heads of all channels, which users of the channels have installed in the end. */
function stopsIn(ofPackage: Package): Stop[] {
  return [...ofPackage.channels.values()].flatMap((channel) => {
    const head = headOf(channel);
    const bundle = head && ofPackage.bundles.get(head.name);
    return bundle ? [{ channel, bundle }] : [];
  });
}

/** Whether users may be told to switch to a channel. */
function isOffered({ deprecatedChannels }: Package, { name }: Channel): boolean {
  return !isUnstable(name) && !deprecatedChannels.has(name);
}

/**
 * Pairs of channels where the head of one has no way into the newer other, not even through a third.
 *
 * @param isWanted whether anybody is to get to a head
 */
function blockedIn(
  world: World,
  stops: readonly Stop[],
  isWanted: (to: Stop) => boolean,
): { from: Stop; to: Stop }[] {
  // The targets depend only on the installed version: check channels with the same head once.
  const heads = new Set(stops.map(({ bundle }) => bundle));
  const named = new Map(stops.map(({ channel }) => [channel, namesBundle(channel)]));
  const ways = new Map(
    [...heads].map((head) => {
      const known = stops.filter(({ channel }) => named.get(channel)?.(head.name));
      return [head, known.filter((to) => entersChannel(world, head, to))];
    }),
  );
  const blocked = new Map<Bundle, readonly Stop[]>();
  for (const head of heads) {
    const reached = new Set<Stop>();
    const installed = new Set([head]);
    // What is added to a set while it is gone through is gone through as well.
    for (const at of installed) {
      for (const to of ways.get(at) ?? []) {
        reached.add(to);
        installed.add(to.bundle);
      }
      if (reached.size === stops.length) break;
    }
    blocked.set(
      head,
      stops.filter((to) => isNewer(to.bundle, head) && isWanted(to) && !reached.has(to)),
    );
  }
  return stops.flatMap((from) => (blocked.get(from.bundle) ?? []).map((to) => ({ from, to })));
}

/** Whether a bundle is an entry of a channel or may be followed by one: by name, or by a range, which can cover any. */
function namesBundle({ entries }: Channel): (bundle: string) => boolean {
  if (entries.some(({ skipRange }) => skipRange !== '')) return () => true;
  const { replacing, skipping } = namingOf(entries);
  const own = new Set(entries.map(({ name }) => name));
  return (bundle) => own.has(bundle) || replacing(bundle).length > 0 || skipping(bundle).length > 0;
}

/** Whether a subscription to the channel leads an installed bundle to its head. */
function entersChannel({ foresight }: World, from: Bundle, { channel }: Stop): boolean {
  return foresight.v0({ package: channel.package, channel: channel.name }, installedOf(from)).arrives;
}

function isNewer({ version: a }: Bundle, { version: b }: Bundle): boolean {
  return a !== undefined && b !== undefined && compareVersions(a, b) > 0;
}
