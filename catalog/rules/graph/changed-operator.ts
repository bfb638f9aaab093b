import { addedGrants, type Grant } from '../../olm/foresight/access.ts';
import { listed } from '../message-text.ts';
import { isKnownOnPaths, type NewUpgrade, reportUpgrades, type Side } from '../new-upgrades.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  /**
   * OLM v0 fails a ClusterServiceVersion that does not support what its namespace's OperatorGroup selects. What
   * OLM v1 minds of install modes is the matter of graph/newly-unsupported-v1.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/operators/olm/operator.go `CSVReasonUnsupportedOperatorGroup`
   */
  {
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
  },
  {
    id: 'graph/permissions-grow',
    severity: 'warning',
    summary: 'Reports permissions that an upgrade adds, because clusters grant them automatically',
    harm: { rank: 10, kind: 'some' },
    reads: ['catalogs', 'history', 'manifests'],
    compare(change, report) {
      reportUpgrades(change, report, addedIn, ({ added, whole }, { text: upgrades, isOne }) => ({
        message: `${upgrades} ${isOne ? 'adds' : 'add'} ${whole ?? 'permissions'}: ${added}`,
        hint: 'check that the operator needs them: automatic upgrades grant them on every cluster',
        ...(whole === undefined && { severity: 'info' }),
      }));
    },
  },
  /** @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline */
  {
    id: 'graph/privileges-grow',
    severity: 'warning',
    summary: "Reports upgrades whose pods may do more on their nodes than the previous version's",
    harm: { rank: 10, kind: 'some' },
    reads: ['catalogs', 'history', 'manifests'],
    compare(change, report) {
      reportUpgrades(change, report, newPrivileges, (added, { text, isOne }) => ({
        message: `${text} ${isOne ? 'gives' : 'give'} the pods of the operator more rights on their nodes: ${listed(added)}`,
        hint: 'check that the operator needs them: automatic upgrades grant them on every cluster, and restricted namespaces refuse such pods',
      }));
    },
  },
  /**
   * Kubernetes refuses a deployment whose selector changes. OLM v0 and v1 update the deployment of the former version, and
   * fail.
   *
   * @see https://github.com/operator-framework/operator-lifecycle-manager/issues/952
   * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#label-selector-updates
   */
  {
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
  },
];

interface Loss {
  readonly lost: readonly string[];
  readonly kept: readonly string[];
  readonly severity: 'error' | 'warning';
}

/** The install modes that an upgrade under OLM v0 removes: an error if AllNamespaces, the usual one, is among them, or if they are all. */
function lossOn(upgrade: NewUpgrade): Loss | undefined {
  const { olm, from, to } = upgrade;
  const before = from.manifests.csv?.installModes;
  const after = to.manifests.csv?.installModes;
  if (!olm.includes('v0') || !before || !after) return undefined;
  const lost = [...before].filter((mode) => !after.has(mode)).sort();
  const lacksThem = ({ manifests: { csv } }: Side): boolean =>
    csv?.installModes !== undefined && !lost.some((mode) => csv.installModes?.has(mode));
  // Only OLM v0 fails for this, so only its paths decide whether the loss is news.
  const former = upgrade.former.filter((path) => path.olm === 'v0');
  if (lost.length === 0 || isKnownOnPaths({ former }, lacksThem)) return undefined;
  const isUsual = lost.includes('AllNamespaces') || lost.length === before.size;
  return { lost, kept: [...after].sort(), severity: isUsual ? 'error' : 'warning' };
}

/** Kinds that a message names; what is beyond is counted. */
const NAMED = 60;

interface AddedPermissions {
  readonly added: string;
  /** What they amount to, if that is the whole cluster. */
  readonly whole: string | undefined;
}

/** Which permissions an upgrade adds; undefined for none, where either side is unknown, and for those that are not new. */
function addedIn(upgrade: NewUpgrade): AddedPermissions | undefined {
  const before = upgrade.from.manifests.csv?.permissions;
  const addedBy = ({ manifests: { csv } }: Side): AddedPermissions | undefined =>
    before && csv?.permissions ? permissionsAdded(before, csv.permissions) : undefined;
  const all = addedBy(upgrade.to);
  if (!all || isKnownOnPaths(upgrade, (side) => addedBy(side)?.added === all.added)) return undefined;
  const { added, whole } = all;
  const isOld = whole !== undefined && isKnownOnPaths(upgrade, (side) => addedBy(side)?.whole === whole);
  return { added, whole: isOld ? undefined : whole };
}

type Permissions = Parameters<typeof addedGrants>[0];

/** What one bundle may do that another may not; undefined for nothing. */
function permissionsAdded(before: Permissions, after: Permissions): AddedPermissions | undefined {
  const { grants, isComplete } = addedGrants(before, after);
  const named = grants.slice(0, NAMED);
  const more = [
    ...(grants.length > NAMED ? [`; and ${grants.length - NAMED} more`] : []),
    ...(isComplete ? [] : ['; the rest is too much to compare']),
  ].join('');
  const parts = [
    { where: 'in all namespaces', added: named.filter(({ wide }) => wide) },
    { where: 'in the namespaces that it watches', added: named.filter(({ wide }) => !wide) },
  ].filter((part) => part.added.length > 0);
  const added =
    parts.map((part) => `${part.where} ${part.added.map(grantText).join(', ')}`).join('; ') + more;
  return added === '' ? undefined : { added, whole: wholeIn(grants) };
}

/** What grants amount to that give the whole cluster to whoever has them; undefined for others. */
function wholeIn(grants: readonly Grant[]): string | undefined {
  const has = (kind: RegExp, verb: string): boolean =>
    grants.some(({ on, verbs }) => kind.test(on) && (verbs.includes(verb) || verbs.includes('*')));
  if (grants.some(({ wide, on, verbs }) => wide && on === '*.*' && verbs.includes('*')))
    return 'the rights of cluster-admin';
  return has(PRIVILEGED, 'use') ? 'the right to run privileged containers' : undefined;
}

const PRIVILEGED = /^(?:securitycontextconstraints|\*)\.security\.openshift\.io(?: "privileged")?$/;

/** The rights of pods that no deployment had before; undefined for none, and where either side is unknown. */
function newPrivileges(upgrade: NewUpgrade): string[] | undefined {
  const { from, to } = upgrade;
  const [before, after] = [from.manifests.csv?.deployments, to.manifests.csv?.deployments];
  if (!before || !after) return undefined;
  const had = new Set(before.flatMap(({ privileges }) => privileges));
  const added = [...new Set(after.flatMap(({ privileges }) => privileges))].filter((one) => !had.has(one));
  const hasThem = ({ manifests: { csv } }: Side): boolean =>
    added.every((one) => csv?.deployments?.some(({ privileges }) => privileges.includes(one)));
  return added.length === 0 || isKnownOnPaths(upgrade, hasThem) ? undefined : added;
}

function grantText({ on, verbs }: Grant): string {
  return `${on} (${verbs.join(' ')})`;
}

/** The deployments that both versions have, and that find their pods by other labels; undefined for none. */
function changedOn({ from, to }: NewUpgrade): string[] | undefined {
  const before = new Map(from.manifests.csv?.deployments?.map(({ name, selector }) => [name, selector]));
  const changed = (to.manifests.csv?.deployments ?? []).flatMap(({ name, selector }) => {
    const former = before.get(name);
    // Kubernetes accepts no empty selector: where one is, more is wrong than an upgrade.
    return former && selector && former !== selector ? [name] : [];
  });
  return changed.length > 0 ? changed : undefined;
}
