import { type Installed, installedOf } from '../../fbc/edge.ts';
import type { Channel, Entry } from '../../fbc/model.ts';
import { partition } from '../../go/grouped.ts';
import { compareInstalled, publishedInstallations } from '../../olm/foresight/installation.ts';
import { installationChanges } from '../../olm/foresight/installation-change.ts';
import type { Change } from '../../olm/foresight/world.ts';
import { entryIn, placeOfEntry, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { channelText, joined, listed, listWithVerb, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/channel-removed',
    severity: 'error',
    summary: 'Reports removed channels that clusters may be subscribed to',
    harm: { rank: 2, kind: 'loss' },
    reads: ['history'],
    compare(change, report) {
      for (const name of change.packages) {
        const was = change.before.catalog.packages.get(name);
        const is = change.after.catalog.packages.get(name);
        const location = placeOfPackage(change.after, name);
        if (!was || !is || is.channels.size === 0 || !location) continue;
        const installations = publishedInstallations(change.before, name);
        for (const channel of was.channels.keys()) {
          if (is.channels.has(channel)) continue;
          if (!change.before.isPublished({ package: name, channel })) {
            const message = `channel ${quoted(channel)} of package ${quoted(name)} is removed before it is published`;
            report(message, location, { package: name, channel, severity: 'info' });
            continue;
          }
          const installed = installations
            .filter((one) => one.channel === channel)
            .map((one) => one.installed);
          const versions = versionsOf(installed);
          const deprecated = was.deprecatedChannels.has(channel);
          const message = `channel ${quoted(channel)} of package ${quoted(name)} is removed: OLM v0 cannot resolve anything in namespaces that subscribe to it, and OLM v1 reports an error for every extension that selects it (${listed(versions)})`;
          const hint = deprecated
            ? 'it was deprecated before: waive this finding once users have had time to move'
            : `keep the channel for one more release and deprecate it: reference: {schema: olm.channel, name: ${channel}}`;
          report(message, location, { package: name, channel, installed: versions, hint });
        }
      }
    },
  },
  {
    id: 'graph/edge-removed-or-changed',
    severity: 'info',
    summary: 'Reports changed upgrade edges of published entries; other rules report the effect on clusters',
    fix: 'nothing to do if no other finding reports stranded installations',
    compare(change, report) {
      for (const name of change.packages) {
        const was = change.before.catalog.packages.get(name)?.channels;
        for (const channel of change.after.catalog.packages.get(name)?.channels.values() ?? []) {
          const before = was?.get(channel.name);
          const changed = channel.entries.flatMap((entry) => {
            const old = before && entryIn(before, entry.name);
            const differences = old ? differencesOf(old, entry) : [];
            return differences.length > 0 ? [{ entry, text: differences.join('; ') }] : [];
          });
          const [first] = changed;
          if (!first) continue;
          const message =
            changed.length === 1
              ? `the entry of ${quoted(first.entry.name)} in ${channelText(channel.name, name)} changes: ${first.text}`
              : `${changed.length} entries of ${channelText(channel.name, name)} change: ${joined(changed.map(({ entry, text }) => `${quoted(entry.name)}: ${text}`))}`;
          report(message, placeOfEntry(channel, first.entry.index), { package: name, channel: channel.name });
        }
      }
    },
  },
  {
    id: 'graph/entry-removed',
    severity: 'info',
    summary: 'Reports removed entries; other rules report what is stranded',
    fix: 'nothing to do as long as upgrade edges cover the installed version',
    reads: ['catalogs', 'history'],
    compare(change, report) {
      for (const removed of removedEntries(change)) {
        const { package: name, channel, installed } = removed;
        const [published, drafts] = partition(installed, (one) =>
          change.before.isPublished({ package: name, channel: channel.name, bundle: one.name }),
        );
        const moves = installationChanges(change, name);
        const covered = published.filter((one) =>
          moves.every(
            (move) => move.channel !== channel.name || move.installed.name !== one.name || move.after.arrives,
          ),
        );
        reportRemoved({ ...removed, installed: covered }, 'upgrade edges still lead to the head', report);
        reportRemoved({ ...removed, installed: drafts }, neverPublishedText(drafts.length === 1), report);
      }
    },
  },
  {
    id: 'graph/startingcsv-pin-lost',
    severity: 'warning',
    summary: 'Reports removed versions that users may have pinned, by startingCSV or an exact version',
    reads: ['history'],
    compare(change, report) {
      for (const { package: name, channel, installed, before } of removedEntries(change)) {
        // Subscriptions should not start with a pre-release, or with a version that another entry skips.
        const skipped = new Set(before.entries.flatMap(({ skips }) => skips));
        const pinned = installed.filter(
          (one) =>
            one.version?.prerelease.length === 0 &&
            !skipped.has(one.name) &&
            change.before.isPublished({ package: name, channel: channel.name, bundle: one.name }),
        );
        const versions = versionsOf(pinned);
        if (versions.length === 0) continue;
        const message = `${listWithVerb(versions)} removed from ${channelText(channel.name, name)}: installing it with startingCSV (OLM v0) or a pinned version (OLM v1) fails`;
        const hint = 'if users were told to pin it, keep the entry and skip it in a later one';
        report(message, placeOfHead(channel), {
          package: name,
          channel: channel.name,
          installed: versions,
          hint,
        });
      }
    },
  },
];

/** How the upgrade edges of an entry change, in words. */
function differencesOf(old: Entry, entry: Entry): string[] {
  const lost = namesNotIn(old.skips, entry.skips);
  const added = namesNotIn(entry.skips, old.skips);
  return [
    ...(old.replaces === entry.replaces
      ? []
      : [`replaces ${quotedOrNothing(entry.replaces)} instead of ${quotedOrNothing(old.replaces)}`]),
    ...(lost.length > 0 ? [`no longer skips ${listed(lost)}`] : []),
    ...(added.length > 0 ? [`skips ${listed(added)}`] : []),
    ...(old.skipRange === entry.skipRange
      ? []
      : [`skipRange ${quotedOrNothing(entry.skipRange)} instead of ${quotedOrNothing(old.skipRange)}`]),
  ];
}

/** The names of a list that another one lacks. */
function namesNotIn(names: readonly string[], others: readonly string[]): string[] {
  // Most entries are as they were.
  if (names.every((name, i) => name === others[i])) return [];
  const known = new Set(others);
  return names.filter((name) => !known.has(name));
}

function quotedOrNothing(text: string): string {
  return text === '' ? 'nothing' : quoted(text);
}

function neverPublishedText(isOne: boolean): string {
  return `no cluster has ${isOne ? 'it, because it was' : 'them, because they were'} never published`;
}

function reportRemoved({ package: name, channel, installed }: Removed, why: string, report: Report): void {
  if (installed.length === 0) return;
  const versions = versionsOf(installed);
  const message = `${listWithVerb(versions)} removed from ${channelText(channel.name, name)}; ${why}`;
  report(message, placeOfHead(channel), { package: name, channel: channel.name, installed: versions });
}

// Entries that a change takes from channels that stay.

interface Removed {
  readonly package: string;
  /** The channel as it is after the change. */
  readonly channel: Channel;
  readonly before: Channel;
  /** The bundles that were removed from it, the lowest version first. */
  readonly installed: readonly Installed[];
}

/** The entries that are gone from channels that stay, by channel. */
function removedEntries(change: Change): Removed[] {
  return change.packages.flatMap((name) => {
    const was = change.before.catalog.packages.get(name);
    const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
    return channels.flatMap((channel) => {
      const before = was?.channels.get(channel.name);
      if (!before) return [];
      const present = new Set(channel.entries.map((entry) => entry.name));
      const gone = before.entries.filter((entry) => !present.has(entry.name));
      const installed = gone.map((entry) => {
        const bundle = was?.bundles.get(entry.name);
        return bundle ? installedOf(bundle) : { name: entry.name, version: undefined };
      });
      return installed.length > 0
        ? [{ package: name, channel, before, installed: installed.sort(compareInstalled) }]
        : [];
    });
  });
}
