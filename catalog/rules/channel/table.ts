import { chainBelow, hasChain, headOf, headsOf } from '../../fbc/channel.ts';
import { type Channel, type Entry, locate, type Package } from '../../fbc/model.ts';
import { correctionOf } from '../../olm/foresight/fix.ts';
import { lacksMember, skippedLinks, unskipText, yamlScalar } from '../../olm/foresight/fix-edits.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { channelText, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'channel/cycle',
    severity: 'error',
    summary: 'Reports channels in which replaces forms a cycle',
    opm: ['detected cycle in replaces chain of upgrade graph: a -> b -> a'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        const head = headOf(channel);
        const cycle = head && chainBelow(channel, head).cycle;
        if (!cycle) continue;
        // The cycle ends with its first name: the one before closes it.
        const closing = channel.entries.find(({ name }) => name === cycle.at(-2));
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)}: replaces form a cycle: ${cycle.join(' -> ')}`;
        const location = locate(channel, 'entries', closing?.index ?? 0, 'replaces');
        const details = {
          package: channel.package,
          channel: channel.name,
          hint: 'replaces must name an older version',
        };
        report(message, location, details);
      }
    },
  },
  {
    id: 'channel/duplicate',
    severity: 'error',
    summary: 'Reports channels that are defined more than once in their package',
    opm: ['package "p" has duplicate channel "c"'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        const first = catalog.packages.get(channel.package)?.channels.get(channel.name);
        if (!first || first === channel) continue;
        const { file, line } = locate(first);
        const message = `duplicate channel ${quoted(channel.name)} in package ${quoted(channel.package)}, first defined at ${file}:${line}`;
        const details = {
          package: channel.package,
          channel: channel.name,
          hint: 'merge all entries into one olm.channel blob',
        };
        report(message, locate(channel, 'name'), details);
      }
    },
  },
  {
    id: 'channel/empty',
    severity: 'error',
    summary: 'Reports channels without entries',
    opm: ['channel must contain at least one bundle'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        if (channel.entries.length > 0) continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(channel.package)} has no entries`;
        const details = {
          package: channel.package,
          channel: channel.name,
          hint: 'add an entry, or remove the channel',
        };
        report(message, locate(channel, 'entries'), details);
      }
    },
  },
  {
    id: 'channel/name',
    severity: 'error',
    summary: 'Reports channels without a name',
    opm: ['package "p" contains channel with no name'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        if (channel.name !== '') continue;
        const message = `a channel of package ${quoted(channel.package)} has no name`;
        report(message, locate(channel, 'name'), { package: channel.package, hint: 'name: stable' });
      }
    },
  },
  {
    id: 'channel/stranded',
    severity: 'error',
    summary: 'Reports entries that are neither in the replaces chain of the head nor skipped',
    opm: ['channel contains one or more stranded bundles: a, b'],
    check(catalog, report) {
      for (const channel of catalog.blobs.channels) {
        const head = headOf(channel);
        if (!head) continue;
        const { stranded } = chainBelow(channel, head);
        const [first, ...others] = stranded;
        if (!first) continue;
        const names = stranded.map(({ name }) => name);
        const have = others.length > 0 ? 'have' : 'has';
        const message = `${channelText(channel.name, channel.package)}: ${listed(names.map(quoted))} ${have} no upgrade path to the head ${quoted(head.name)}`;
        const hint =
          linkNotToSkip(channel) ?? `add to the entry of ${head.name}: skips: [${names.join(', ')}]`;
        const details = { package: channel.package, channel: channel.name, installed: names, hint };
        report(message, locate(channel, 'entries', first.index, 'name'), details);
      }
    },
  },
  {
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
        const [last, ...others] = [...heads].reverse();
        const correction = correctionToFollow(channel, heads, catalog.packages.get(channel.package));
        for (const head of others) {
          const message = `${where} has ${heads.length} heads: nothing replaces or skips ${quoted(head.name)} or ${quoted(last?.name ?? '')}`;
          const hint = `make one entry replace the other: replaces: ${head.name}`;
          report(message, locate(channel, 'entries', head.index, 'name'), {
            ...details,
            hint,
            ...correction,
          });
        }
      }
    },
  },
];

/** The link of the chain that must not be skipped, where that alone gives all of them an upgrade path. */
function linkNotToSkip(channel: Channel): string | undefined {
  const found = skippedLinks(channel).find(({ entry, skipped }) => {
    const skips = entry.skips.filter((name) => name !== skipped);
    return hasChain({
      ...channel,
      entries: channel.entries.map((one) => (one === entry ? { ...one, skips } : one)),
    });
  });
  return found && unskipText(found.entry, found.skipped);
}

/** The correction for a channel with two heads: the newer one replaces the other, if it replaces nothing yet. */
function correctionToFollow(
  channel: Channel,
  [one, other, ...more]: readonly Entry[],
  ofPackage: Package | undefined,
): ReturnType<typeof correctionOf> {
  const versionOf = ({ name }: Entry): Version | undefined => ofPackage?.bundles.get(name)?.version;
  if (!one || !other || more.length > 0) return {};
  const [a, b] = [versionOf(one), versionOf(other)];
  const order = a && b ? compareVersions(a, b) : 0;
  const [newer, older] = order > 0 ? [one, other] : [other, one];
  if (order === 0 || !['replaces', 'skips', 'skipRange'].every((key) => lacksMember(channel, newer, key)))
    return {};
  return correctionOf(channel, {
    entry: newer.name,
    index: newer.index,
    member: `replaces: ${yamlScalar(older.name)}`,
  });
}
