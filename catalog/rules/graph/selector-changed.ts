import { listed } from '../message-text.ts';
import { type NewUpgrade, reportUpgrades } from '../new-upgrades.ts';
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
    reportUpgrades(change, report, changedOn, (deployments, { text, isOne, to }) => {
      const [s, each] = deployments.length === 1 ? ['', 'the deployment'] : ['s', 'each deployment'];
      return {
        message: `${text} ${isOne ? 'fails' : 'fail'}: ${to} changes the selector of the deployment${s} ${listed(deployments.map(quoted))}, which Kubernetes refuses`,
        hint: `keep the selector${s}, or give ${each} a new name`,
      };
    });
  },
};

/** The deployments that both versions have, and that find their pods by other labels; undefined for none. */
function changedOn({ from, to }: NewUpgrade): string[] | undefined {
  const before = new Map(from.manifests.csv?.deployments?.map(({ name, selector }) => [name, selector]));
  const changed = (to.manifests.csv?.deployments ?? []).flatMap(({ name, selector }) => {
    const former = before.get(name);
    if (!former || former.size === 0 || selector.size === 0) return [];
    const isSame =
      former.size === selector.size && [...selector].every(([label, value]) => former.get(label) === value);
    return isSame ? [] : [name];
  });
  return changed.length > 0 ? changed : undefined;
}
