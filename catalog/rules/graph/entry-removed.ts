import { installationChanges } from '../../olm/foresight/installation-change.ts';
import { placeOfHead } from '../finding-location.ts';
import { channelText, counted, versionsOf } from '../message-text.ts';
import { type Removed, removedEntries } from '../removed-entries.ts';
import type { Report, Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/entry-removed',
  severity: 'info',
  summary: 'Reports removed entries; other rules report what is stranded',
  fix: 'nothing to do as long as upgrade edges cover the installed version',
  reads: ['catalogs', 'history'],
  compare(change, report) {
    for (const removed of removedEntries(change)) {
      const { package: name, channel, installed } = removed;
      const [published, drafts] = split(installed, (one) =>
        change.before.isPublished({ package: name, channel: channel.name, bundle: one.name }),
      );
      const moves = installationChanges(change, name).filter(({ olm }) => olm === 'v0');
      const covered = published.filter((one) =>
        moves.every(
          (move) => move.channel !== channel.name || move.installed.name !== one.name || move.after.arrives,
        ),
      );
      reportRemoved({ ...removed, installed: covered }, 'upgrade edges still lead to the head', report);
      reportRemoved({ ...removed, installed: drafts }, NEVER_PUBLISHED(drafts.length === 1), report);
    }
  },
};

const NEVER_PUBLISHED = (one: boolean): string =>
  `no cluster has ${one ? 'it, because it was' : 'them, because they were'} never published`;

function reportRemoved({ package: name, channel, installed }: Removed, why: string, report: Report): void {
  if (installed.length === 0) return;
  const versions = versionsOf(installed);
  const message = `${counted(versions, 'is', 'are')} removed from ${channelText(channel.name, name)}; ${why}`;
  report(message, placeOfHead(channel), { package: name, channel: channel.name, installed: versions });
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
