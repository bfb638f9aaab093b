/** Service accounts of deployments, and what they may do with the operator's own APIs. */
import {
  deploymentsOf,
  type Fields,
  type Inspected,
  memberObject,
  memberObjects,
  memberText,
  memberTexts,
} from '../../bundle/inspect.ts';
import type { BundleObject } from '../../bundle/registry-bundle.ts';

import type { Report } from '../rule.ts';
import { csvCheck, csvText } from './csv.ts';

type Check = (bundle: Inspected, report: Report) => void;

const SECTIONS = ['permissions', 'clusterPermissions'];

/** What a ClusterServiceVersion grants: OLM creates the service accounts that are named here, and no others. */
export function permissionsOf(spec: Fields): Fields[] {
  return SECTIONS.flatMap((section) => memberObjects(spec, 'install', 'spec', section));
}

/**
 * The account of a pod must exist: OLM creates the accounts of permissions, and those that are manifests of the bundle.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/v0.46.0/pkg/controller/registry/resolver/rbac.go
 */
export const checkServiceAccountsExist: Check = csvCheck((csv, report, { objects }) => {
  const known = new Set([
    'default',
    ...permissionsOf(csv.spec).map((permission) => memberText(permission, 'serviceAccountName')),
    ...objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
  ]);
  for (const { value, path } of deploymentsOf(csv)) {
    const pod = memberObject(value, 'spec', 'template', 'spec');
    const field = ['serviceAccountName', 'serviceAccount'].find((one) => memberText(pod, one) !== '');
    if (field === undefined || known.has(memberText(pod, field))) continue;
    const message = `${csvText(csv)}: the deployment ${JSON.stringify(memberText(value, 'name'))} uses the service account ${JSON.stringify(memberText(pod, field))}, which OLM does not create: no pod starts`;
    const [only, ...more] = [...known].filter((name) => name !== 'default' && name !== '');
    report(message, csv.at(...path, 'spec', 'template', 'spec', field), {
      hint:
        only !== undefined && more.length === 0
          ? `serviceAccountName: ${only}`
          : 'name a service account of spec.install.spec.permissions or clusterPermissions',
    });
  }
});

/** An operator that may read none of its APIs does nothing: its rules were lost. */
export const checkOwnRights: Check = csvCheck((csv, report, { objects }) => {
  if (deploymentsOf(csv).length === 0) return;
  const owned = memberObjects(csv.spec, 'customresourcedefinitions', 'owned').map((crd) =>
    memberText(crd, 'name'),
  );
  const groups = new Set(owned.map((name) => name.slice(name.indexOf('.') + 1)));
  if (groups.size === 0) return;
  const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
  const bindings = objects.filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding');
  const isKnown = ({ value }: BundleObject): boolean =>
    roles.some(({ name }) => name === memberText(memberObject(value, 'roleRef'), 'name'));
  // What a role of the cluster grants, such as cluster-admin, is not in the bundle.
  if (!bindings.every(isKnown)) return;
  const granted = [...permissionsOf(csv.spec), ...roles.map(({ value }) => value)];
  const reaches = (group: string): boolean => group === '*' || groups.has(group);
  if (
    granted.some((one) =>
      memberObjects(one, 'rules').some((rule) => memberTexts(rule, 'apiGroups').some(reaches)),
    )
  )
    return;
  const [group = ''] = groups;
  report(
    `${csvText(csv)} has no permission for the APIs that it owns: its pods cannot read ${owned.map((name) => JSON.stringify(name)).join(', ')}`,
    csv.at('spec', 'install', 'spec'),
    { hint: `add a rule with apiGroups: [${group}] to spec.install.spec.clusterPermissions` },
  );
});
