import { headOf } from '../../fbc/channel.ts';
import { shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle, Channel } from '../../fbc/model.ts';
import type { World } from '../../olm/foresight/world.ts';
import { compareVersionReleases, withRelease } from '../../olm/resolve/release.ts';
import { compareVersions } from '../../version/version.ts';
import { channelIn, entryIn, placeOfEntry, placeOfHead } from '../finding-location.ts';
import { channelText, grouped, listed } from '../message-text.ts';
import { type Details, quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
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
  },
  {
    id: 'graph/new-major',
    severity: 'info',
    summary: 'Reports channels that get a new major version',
    compare(change, report) {
      for (const name of change.packages) {
        const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
        const raised = channels.flatMap((channel) => {
          const was = highestIn(change.before, name, channel.name);
          const is = highestIn(change.after, name, channel.name);
          const isRaised = was?.version && is?.version && is.version.major > was.version.major;
          return isRaised ? [{ channel, was, is, major: is.version.major }] : [];
        });
        for (const group of grouped(raised, ({ was, is }) => JSON.stringify([was.name, is.name]))) {
          const [first] = group;
          if (!first) continue;
          const { channel, was, is, major } = first;
          const entry = entryIn(channel, is.name);
          const others = group.slice(1).map((one) => quoted(one.channel.name));
          const also = others.length > 0 ? `, like ${listed(others)},` : '';
          const message = `${channelText(channel.name, name)}${also} gets its first version ${major}.x, ${versionText(is)}; its highest was ${versionText(was)}: subscribers upgrade to it automatically`;
          report(message, entry ? placeOfEntry(channel, entry.index) : placeOfHead(channel), {
            package: name,
            ...(others.length === 0 ? { channel: channel.name } : {}),
            installed: [shortName(was)],
            hint: 'publish a new major version in a separate channel if users must opt in',
          });
        }
      }
    },
  },
  {
    id: 'graph/prerelease-head',
    severity: 'warning',
    summary: 'Reports channels of releases whose new head is a pre-release',
    compare(change, report) {
      for (const name of change.packages) {
        for (const channel of change.after.catalog.packages.get(name)?.channels.values() ?? []) {
          const head = headOf(channel);
          const bundle = head && change.after.catalog.packages.get(name)?.bundles.get(head.name);
          const released = bundlesIn(change.before, name, channel.name);
          const [was] = released;
          if (!was || !bundle || !isPrerelease(bundle) || released.some(isPrerelease)) continue;
          const message = `${channelText(channel.name, name)} had only releases, and its head is now the pre-release ${versionText(bundle)}: subscribers upgrade to it automatically`;
          report(message, placeOfEntry(channel, head.index), {
            package: name,
            channel: channel.name,
            installed: released.map(shortName),
            hint: 'publish pre-releases in a separate channel',
          });
        }
      }
    },
  },
];

interface Heads {
  readonly was: Channel;
  readonly channel: Channel;
  /** The head of the channel after the change. */
  readonly head: Bundle;
}

/** Reports a head that is lower than the channel's former head, or than its highest published version. */
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

/** The highest version that a channel has, or undefined where it has none. */
function highestIn(world: World, name: string, channel: string): Bundle | undefined {
  const bundles = world.catalog.packages.get(name)?.bundles;
  let highest: Bundle | undefined;
  for (const entry of channelIn(world, name, channel)?.entries ?? []) {
    const bundle = bundles?.get(entry.name);
    if (!bundle?.version) continue;
    if (!highest?.version || compareVersions(bundle.version, highest.version) > 0) highest = bundle;
  }
  return highest;
}

function isPrerelease({ version }: Bundle): boolean {
  return (version?.prerelease.length ?? 0) > 0;
}

/** The bundles that a channel has; none where there is no such channel. */
function bundlesIn(world: World, name: string, channel: string): Bundle[] {
  const bundles = world.catalog.packages.get(name)?.bundles;
  return (channelIn(world, name, channel)?.entries ?? []).flatMap((entry) => bundles?.get(entry.name) ?? []);
}
