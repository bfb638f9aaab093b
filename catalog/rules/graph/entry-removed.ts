import { movesOf } from '../../graph/move.ts';
import { channelText, counted, versionsOf } from '../phrase.ts';
import { placeOfHead } from '../place.ts';
import { removedEntries } from '../removed.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/entry-removed',
  severity: 'info',
  summary:
    'Entries are removed only where edges still cover them; where they do not, other rules say who is stranded',
  fix: 'nothing to do, as long as edges lead those who have the version on',
  compare(change, report) {
    for (const { package: name, channel, installed } of removedEntries(change)) {
      const moves = movesOf(change, name).filter(({ olm }) => olm === 'v0');
      const covered = installed.filter((one) =>
        moves.every(
          (move) => move.channel !== channel.name || move.installed.name !== one.name || move.after.arrives,
        ),
      );
      if (covered.length === 0) continue;
      const versions = versionsOf(covered);
      const message = `${counted(versions, 'is', 'are')} removed from ${channelText(channel.name, name)}; its edges still lead them to the head`;
      report(message, placeOfHead(channel), { package: name, channel: channel.name, installed: versions });
    }
  },
};
