import { shortName } from '../../fbc/edge.ts';
import { grouped, listed } from '../message-text.ts';
import { type NewUpgrade, newUpgrades, onlyChannelOf, placeOfEdge, upgradesText } from '../new-upgrades.ts';
import { quoted, type Rule } from '../rule.ts';

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
    for (const name of change.packages) {
      const narrowed = newUpgrades(change, name).flatMap((edge) => {
        const loss = lossOn(edge);
        return loss ? [{ edge, loss }] : [];
      });
      const key = ({ edge, loss }: Narrowed): string =>
        JSON.stringify([edge.to.bundle.name, loss.lost, loss.severity]);
      for (const group of grouped(narrowed, key)) {
        const [first] = group;
        if (!first) continue;
        const { lost, kept, severity } = first.loss;
        const edges = group.map(({ edge }) => edge);
        const to = shortName(first.edge.to.bundle);
        const message = `under OLM v0 ${upgradesText(edges)} of package ${quoted(name)} ${edges.length === 1 ? 'fails' : 'fail'} in operator groups that use the install mode ${listed(lost)}: ${to} supports ${listed(kept) || 'none'}`;
        report(message, placeOfEdge(change, first.edge), {
          package: name,
          ...onlyChannelOf(edges),
          installed: edges.map(({ from }) => shortName(from.bundle)),
          severity,
          hint: `support ${listed(lost)} in ${to}, or tell users how to reinstall the operator before the upgrade`,
        });
      }
    }
  },
};

interface Narrowed {
  readonly edge: NewUpgrade;
  readonly loss: Loss;
}

interface Loss {
  readonly lost: readonly string[];
  readonly kept: readonly string[];
  readonly severity: 'error' | 'warning';
}

/** The install modes that an upgrade under OLM v0 removes: an error if it is the usual one, or all. */
function lossOn({ olm, from, to }: NewUpgrade): Loss | undefined {
  const before = from.manifests.csv?.installModes;
  const after = to.manifests.csv?.installModes;
  if (!olm.includes('v0') || !before || !after) return undefined;
  const lost = [...before].filter((mode) => !after.has(mode)).sort();
  if (lost.length === 0) return undefined;
  const isUsual = lost.includes('AllNamespaces') || lost.length === before.size;
  return { lost, kept: [...after].sort(), severity: isUsual ? 'error' : 'warning' };
}
