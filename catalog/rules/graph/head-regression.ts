import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel } from '../../fbc/model.ts';
import type { World } from '../../olm/foresight/world.ts';
import { compareVersionReleases, withRelease } from '../../olm/resolve/release.ts';
import { placeOfHead } from '../finding-location.ts';
import { channelText } from '../message-text.ts';
import type { Details, Report, Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/head-regression',
  severity: 'error',
  summary: 'Reports channels whose head moves to a lower version',
  harm: { rank: 6, kind: 'change' },
  reads: ['history'],
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      for (const channel of after.catalog.packages.get(name)?.channels.values() ?? []) {
        const was = before.catalog.packages.get(name)?.channels.get(channel.name);
        const head = headBundle(after, channel);
        if (was && head) compareHeads(before, { was, channel, head }, report);
      }
    }
  },
};

interface Heads {
  readonly was: Channel;
  readonly channel: Channel;
  /** The head of the channel after the change. */
  readonly head: Bundle;
}

function compareHeads(before: World, { was, channel, head }: Heads, report: Report): void {
  const old = headBundle(before, was);
  const published = old && isPublished(before, was, old) ? old : highestPublished(before, was);
  const tell = (from: Bundle, more: string, details: Details): void => {
    const message = `the head of ${channelText(channel.name, channel.package)} moves back from ${shortName(from)} to ${shortName(head)}${more}`;
    const place = { package: channel.package, channel: channel.name, installed: [shortName(from)] };
    report(message, placeOfHead(channel), { ...place, ...details });
  };
  if (published && isLower(head, published)) {
    const hint = `keep the entry of ${published.name}; to withdraw a bad release, publish a higher version that skips it`;
    tell(published, '', { hint });
  } else if (old && isLower(head, old)) {
    tell(old, `; no cluster has ${shortName(old)}, because it was never published`, { severity: 'info' });
  }
}

function headBundle({ catalog }: World, channel: Channel): Bundle | undefined {
  const head = headOf(channel);
  return head && catalog.packages.get(channel.package)?.bundles.get(head.name);
}

function isPublished(world: World, { package: name, name: channel }: Channel, bundle: Bundle): boolean {
  return world.isPublished({ package: name, channel, bundle: bundle.name });
}

/** The head that clusters see, where the head itself was never published. */
function highestPublished(world: World, channel: Channel): Bundle | undefined {
  const bundles = world.catalog.packages.get(channel.package)?.bundles;
  return channel.entries
    .flatMap(({ name }) => bundles?.get(name) ?? [])
    .filter((bundle) => bundle.version !== undefined && isPublished(world, channel, bundle))
    .reduce<Bundle | undefined>((best, one) => (best && !isLower(best, one) ? best : one), undefined);
}

function isLower({ version: a }: Bundle, { version: b }: Bundle): boolean {
  return a !== undefined && b !== undefined && compareVersionReleases(withRelease(a), withRelease(b)) < 0;
}
