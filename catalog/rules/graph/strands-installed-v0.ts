import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { changesUnder } from '../../olm/foresight/installation-change.ts';
import { type Change, checkedPackages } from '../../olm/foresight/world.ts';
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
        !isToldByOthers(after.last) &&
        !isUnreadable(after.last, change),
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

/** What keeps a whole channel from having an order, and entries without bundles, are told by rules about the channel. */
function isToldByOthers(last: UpgradePath['last']): boolean {
  return last.kind !== 'circle' && ['no-order', 'successor-missing'].includes(last.reason.code);
}

/** A requirement that OLM v0 cannot parse is told by a rule about its bundle, where that is checked. */
function isUnreadable(last: UpgradePath['last'], { after }: Change): boolean {
  if (last.kind === 'circle' || last.reason.code !== 'bad-dependency') return false;
  const { bundle = '' } = last.reason;
  return checkedPackages(after).some(({ bundles }) => bundles.has(bundle));
}
