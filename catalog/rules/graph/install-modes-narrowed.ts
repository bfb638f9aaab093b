import { listed } from '../message-text.ts';
import { type NewUpgrade, reportUpgrades } from '../new-upgrades.ts';
import type { Rule } from '../rule.ts';

/**
 * OLM v0 fails a ClusterServiceVersion that does not support what its namespace's OperatorGroup selects. What
 * OLM v1 minds of install modes is the matter of graph/newly-unsupported-v1.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/operator.go `CSVReasonUnsupportedOperatorGroup`
 */
export const rule: Rule = {
  id: 'graph/install-modes-narrowed',
  severity: 'error',
  summary:
    'Reports upgrades that drop install modes of the previous version, because operator groups do not change',
  harm: { rank: 10, kind: 'some' },
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    reportUpgrades(change, report, lossOn, ({ lost, kept, severity }, { text, isOne, to }) => ({
      message: `under OLM v0 ${text} ${isOne ? 'fails' : 'fail'} in operator groups that use the install mode ${listed(lost)}: ${to} supports ${listed(kept) || 'none'}`,
      severity,
      hint: `support ${listed(lost)} in ${to}, or tell users how to reinstall the operator before the upgrade`,
    }));
  },
};

interface Loss {
  readonly lost: readonly string[];
  readonly kept: readonly string[];
  readonly severity: 'error' | 'warning';
}

/** The install modes that an upgrade under OLM v0 removes: an error for AllNamespaces, the usual one, or all. */
function lossOn({ olm, from, to }: NewUpgrade): Loss | undefined {
  const before = from.manifests.csv?.installModes;
  const after = to.manifests.csv?.installModes;
  if (!olm.includes('v0') || !before || !after) return undefined;
  const lost = [...before].filter((mode) => !after.has(mode)).sort();
  if (lost.length === 0) return undefined;
  const isUsual = lost.includes('AllNamespaces') || lost.length === before.size;
  return { lost, kept: [...after].sort(), severity: isUsual ? 'error' : 'warning' };
}
