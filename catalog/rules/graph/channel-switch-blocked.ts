import { headOf } from '../../graph/channel.ts';
import { installedOf, shortName } from '../../graph/edge.ts';
import { judgedPackages, type World } from '../../graph/world.ts';
import type { Bundle, Channel, Package } from '../../model.ts';
import { compareVersions } from '../../version.ts';
import { grouped, listed } from '../phrase.ts';
import { placeOfHead } from '../place.ts';
import { quoted, type Rule } from '../rule.ts';
import { isUnstable } from '../unstable.ts';

export const rule: Rule = {
  id: 'graph/channel-switch-blocked',
  severity: 'warning',
  summary: 'From the head of a channel there is a way into every released channel with a newer head',
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of judgedPackages(world)) {
      const blocked = blockedIn(world, ofPackage);
      for (const group of grouped(blocked, ({ to }) => to.channel.name)) {
        const [first] = group;
        if (!first) continue;
        const { to } = first;
        const from = listed(
          group.map(({ from: one }) => `${quoted(one.channel.name)} (${shortName(one.bundle)})`),
        );
        const message = `package ${quoted(ofPackage.name)}: the newer channel ${quoted(to.channel.name)} (${shortName(to.bundle)}) cannot be entered from the head of ${from}`;
        const names = [...new Set(group.map(({ from: one }) => one.bundle.name))];
        report(message, placeOfHead(to.channel), {
          package: ofPackage.name,
          channel: to.channel.name,
          installed: [...new Set(group.map(({ from: one }) => shortName(one.bundle)))],
          hint: `let an entry of channel ${to.channel.name} replace or skip ${listed(names)}, or cover it with its skipRange`,
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

/** Pairs of channels where the head of one has no way into the newer other, not even through a third. */
function blockedIn(world: World, ofPackage: Package): { from: Stop; to: Stop }[] {
  const stops = [...ofPackage.channels.values()].flatMap((channel) => {
    const head = headOf(channel);
    const bundle = head && ofPackage.bundles.get(head.name);
    return bundle ? [{ channel, bundle }] : [];
  });
  const entered = new Map(stops.map((from) => [from, stops.filter((to) => enters(world, from, to))]));
  return stops.flatMap((from) => {
    const reached = new Set<Stop>([from]);
    for (const stop of reached) for (const next of entered.get(stop) ?? []) reached.add(next);
    return stops
      .filter((to) => isNewer(to, from) && !isUnstable(to.channel.name) && !reached.has(to))
      .map((to) => ({ from, to }));
  });
}

function enters({ foresight }: World, from: Stop, to: Stop): boolean {
  const place = { package: from.channel.package, channel: to.channel.name };
  return from !== to && foresight.v0(place, installedOf(from.bundle)).arrives;
}

function isNewer({ bundle: a }: Stop, { bundle: b }: Stop): boolean {
  return a.version !== undefined && b.version !== undefined && compareVersions(a.version, b.version) > 0;
}
