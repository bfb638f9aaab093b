import { shortName } from '../../fbc/edge.ts';
import { grouped, listed } from '../message-text.ts';
import { type NewUpgrade, newUpgrades, onlyChannelOf, placeOfEdge, upgradesText } from '../new-upgrades.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * Kubernetes refuses a deployment whose selector changes. OLM v0 and v1 update the deployment of the former version, and
 * fail.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/issues/952
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#label-selector-updates
 */
export const rule: Rule = {
  id: 'graph/selector-changed',
  severity: 'error',
  summary: 'Reports upgrades that change the label selector of a deployment, which Kubernetes refuses',
  reads: ['catalogs', 'history', 'manifests'],
  compare(change, report) {
    for (const name of change.packages) {
      const changed = newUpgrades(change, name).flatMap((edge) => {
        const deployments = changedOn(edge);
        return deployments.length > 0 ? [{ edge, deployments }] : [];
      });
      for (const group of grouped(changed, ({ edge, deployments }) =>
        JSON.stringify([edge.to.bundle.name, deployments]),
      )) {
        const [first] = group;
        if (!first) continue;
        const { deployments } = first;
        const edges = group.map(({ edge }) => edge);
        const isOne = deployments.length === 1;
        const message = `${upgradesText(edges)} of package ${quoted(name)} ${edges.length === 1 ? 'fails' : 'fail'}: ${shortName(first.edge.to.bundle)} changes the selector of the deployment${isOne ? '' : 's'} ${listed(deployments.map(quoted))}, which Kubernetes refuses`;
        report(message, placeOfEdge(change, first.edge), {
          package: name,
          ...onlyChannelOf(edges),
          installed: edges.map(({ from }) => shortName(from.bundle)),
          hint: `keep the selector${isOne ? '' : 's'}, or give ${isOne ? 'the deployment' : 'each deployment'} a new name`,
        });
      }
    }
  },
};

/** The deployments that both versions have, and that find their pods by other labels. */
function changedOn({ from, to }: NewUpgrade): string[] {
  const before = new Map(from.manifests.csv?.deployments?.map(({ name, selector }) => [name, selector]));
  return (to.manifests.csv?.deployments ?? []).flatMap(({ name, selector }) => {
    const former = before.get(name);
    if (!former || former.size === 0 || selector.size === 0) return [];
    const isSame =
      former.size === selector.size && [...selector].every(([label, value]) => former.get(label) === value);
    return isSame ? [] : [name];
  });
}
