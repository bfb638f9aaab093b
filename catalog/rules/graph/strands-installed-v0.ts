import { changesUnder } from '../../olm/foresight/installation-change.ts';
import { channelIn } from '../finding-location.ts';
import type { Rule } from '../rule.ts';
import { reportStranded } from '../stranding.ts';

export const rule: Rule = {
  id: 'graph/strands-installed-v0',
  severity: 'error',
  summary: 'A change strands no installation that could reach its channel head under OLM v0',
  compare(change, report) {
    const lost = changesUnder(change, 'v0').filter(
      ({ package: name, channel, before, after }) =>
        before.arrives &&
        !after.arrives &&
        channelIn(change.after, name, channel) &&
        !isDisordered(after.last),
    );
    const stranded = lost.map(({ after, ...move }) => ({ ...move, path: after }));
    reportStranded(change.after, stranded, {
      report,
      olm: 'v0',
      verb: 'can no longer reach',
      past: change.before,
    });
  },
};

/** What keeps a whole channel from having an order is told by rules about the channel. */
function isDisordered(last: { readonly kind: string; readonly reason?: { readonly code: string } }): boolean {
  return last.reason?.code === 'no-order';
}
