import { bundlesIn, channelsOf, edgesPlace, graphMode, replacedNames } from '../operator-checks/graph.ts';
import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/edge',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a name without a version in replaces or skips',
  opm: ["B has invalid 'replaces' field: 'N'"],
  operator(operator, report) {
    if (usesCatalogs(operator) || graphMode(operator) !== 'replaces') return;
    const bundles = new Set(channelsOf(operator.bundles).flatMap((channel) => bundlesIn(operator, channel)));
    for (const bundle of bundles) {
      const name = replacedNames(bundle).find((one) => !one.includes('.'));
      if (name === undefined) continue;
      const message = `bundle ${quoted(bundle.folder)} replaces or skips ${quoted(name)}, which has no version`;
      const hint = `replaces: ${operator.name}.v…`;
      report(message, edgesPlace(bundle, operator), { package: operator.name, hint });
    }
  },
};
