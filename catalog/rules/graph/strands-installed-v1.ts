import { correctionOf, fixFor } from '../../olm/foresight/fix.ts';
import type { Fate } from '../../olm/foresight/foresight.ts';
import { allMoves, type Move } from '../../olm/foresight/move.ts';
import type { Change } from '../../olm/foresight/world.ts';
import { grouped, listed, versionsOf } from '../phrase.ts';
import { channelIn, placeOfEntry, placeOfHead, placeOfPackage } from '../place.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/strands-installed-v1',
  severity: 'error',
  summary: 'A change breaks no working installation under OLM v1',
  compare(change, report) {
    const lost = allMoves(change, 'v1').filter((move) => isLost(move, change));
    const open = new Set(lost.filter(({ channel }) => channel === '').map(keyOf));
    // Who is lost without selecting a channel is lost with any.
    const groups = grouped(
      lost.filter((move) => move.channel === '' || !open.has(keyOf(move))),
      (move) => JSON.stringify([move.package, move.channel, wasRefused(move)]),
    );
    for (const group of groups) reportGroup(change, group, report);
  },
};

function isLost({ package: name, channel, before, after }: Move, change: Change): boolean {
  const ofPackage = change.after.catalog.packages.get(name);
  const isThere = channel === '' ? ofPackage !== undefined : ofPackage?.channels.has(channel) === true;
  const worked = before.next.kind !== 'fails' || failsFor(before, 'dependency');
  return isThere && worked && failsFor(after, 'no-bundle');
}

/** Whether OLM v1 refused what it would have taken before, for its dependencies: another error takes its place. */
function wasRefused({ before }: Move): boolean {
  return failsFor(before, 'dependency');
}

function failsFor({ next }: Fate, code: string): boolean {
  return next.kind === 'fails' && next.reason.code === code;
}

function keyOf({ package: name, installed }: Move): string {
  return JSON.stringify([name, installed.name]);
}

function reportGroup(change: Change, group: readonly Move[], report: Report): void {
  const [first] = group;
  if (!first) return;
  const { package: name, channel } = first;
  const installed = group.map((move) => move.installed);
  const versions = versionsOf(installed);
  const target = channelIn(change.after, name, channel) ?? homeOf(change, first);
  const onlyChannel = channel !== '';
  const stuck = target && { package: name, channel: target.name, olm: 'v1' as const, onlyChannel, installed };
  const refused = wasRefused(first);
  const fix = refused || !stuck ? undefined : fixFor(change.after, stuck, change.before);
  const place = target && (fix && fix.index >= 0 ? placeOfEntry(target, fix.index) : placeOfHead(target));
  const within = onlyChannel ? ` with channel ${quoted(channel)} alone` : '';
  const message = `under OLM v1 an extension of package ${quoted(name)}${within} at ${listed(versions)} fails: the catalog no longer has the bundle, and no entry replaces or skips it${refused ? '. Before, OLM v1 refused its dependencies' : ''}`;
  const location = place ?? placeOfPackage(change.after, name) ?? placeOfPackage(change.before, name);
  if (!location) return;
  report(message, location, {
    package: name,
    ...(target ? { channel: target.name } : {}),
    installed: versions,
    ...(refused ? { severity: 'warning' } : {}),
    hint: fix?.text ?? 'keep the bundle, or add an entry that replaces or skips it',
    ...correctionOf(target, fix),
  });
}

/** The channel that an installation most likely came from and that is still there. */
function homeOf(change: Change, { package: name, installed }: Move): ReturnType<typeof channelIn> {
  const was = [...(change.before.catalog.packages.get(name)?.channels.values() ?? [])];
  const homes = was.filter(({ entries }) => entries.some((entry) => entry.name === installed.name));
  const isNow = change.after.catalog.packages.get(name);
  const names = [...homes.map((home) => home.name), isNow?.defaultChannel ?? ''];
  return names.map((one) => isNow?.channels.get(one)).find((channel) => channel !== undefined);
}
