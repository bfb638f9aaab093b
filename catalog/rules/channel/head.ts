import { headsOf } from '../../fbc/channel.ts';
import { type Channel, type Entry, locate, type Package } from '../../fbc/model.ts';
import { correctionOf, lacks } from '../../olm/foresight/fix.ts';
import { scalar } from '../../olm/foresight/skipped-links.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/head',
  severity: 'error',
  summary: 'Reports channels without exactly one head, an entry that no other replaces or skips',
  opm: ['no channel head found in graph', 'multiple channel heads found in graph: a, b'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const heads = headsOf(channel);
      if (channel.entries.length === 0 || heads.length === 1) continue;
      const where = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}`;
      const details = { package: channel.package, channel: channel.name };
      if (heads.length === 0) {
        const message = `${where} has no head: every entry is replaced or skipped by another`;
        report(message, locate(channel, 'entries'), {
          ...details,
          hint: 'remove the replaces or skips that closes the cycle',
        });
        continue;
      }
      const [newest, ...others] = [...heads].reverse();
      const correction = follow(channel, heads, catalog.packages.get(channel.package));
      for (const head of others) {
        const message = `${where} has ${heads.length} heads: nothing replaces or skips ${quoted(head.name)} or ${quoted(newest?.name ?? '')}`;
        const hint = `make one entry replace the other: replaces: ${head.name}`;
        report(message, locate(channel, 'entries', head.index, 'name'), {
          ...details,
          hint,
          ...correction,
        });
      }
    }
  },
};

/** Of two heads the newer one follows the other, where it says nothing of what it follows. */
function follow(
  channel: Channel,
  [one, other, ...more]: readonly Entry[],
  ofPackage: Package | undefined,
): ReturnType<typeof correctionOf> {
  const versionOf = ({ name }: Entry): Version | undefined => ofPackage?.bundles.get(name)?.version;
  if (!one || !other || more.length > 0) return {};
  const [a, b] = [versionOf(one), versionOf(other)];
  const order = a && b ? compareVersions(a, b) : 0;
  const [newer, older] = order > 0 ? [one, other] : [other, one];
  if (order === 0 || !['replaces', 'skips', 'skipRange'].every((key) => lacks(channel, newer, key)))
    return {};
  return correctionOf(channel, {
    entry: newer.name,
    index: newer.index,
    member: `replaces: ${scalar(older.name)}`,
  });
}
