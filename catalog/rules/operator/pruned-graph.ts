import { member, text } from '../../bundle/inspect.ts';
import { bundlesIn, edgesPlace, skipRangeOf } from '../operator-checks/graph.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/pruned-graph',
  severity: 'warning',
  isOptional: true,
  summary:
    'Reports a bundle with olm.skipRange that replaces no bundle, unless it is the only one of its channel',
  opm: ['olm.skipRange annotation is set but replaces field is not set in the CSV.'],
  operator(operator, report) {
    if (usesCatalogs(operator)) return;
    for (const bundle of operator.changed) {
      if (skipRangeOf(bundle) === '' || text(member(bundle.csv, 'spec'), 'replaces') !== '') continue;
      for (const channel of bundle.channels) {
        if (bundlesIn(operator, channel).length === 1) continue;
        const message = `bundle ${quoted(bundle.folder)} has olm.skipRange without replaces: the older bundles leave channel ${quoted(channel)}`;
        const details = { package: operator.name, channel, hint: `replaces: ${operator.name}.v…` };
        report(message, edgesPlace(bundle, operator), details);
      }
    }
  },
};
