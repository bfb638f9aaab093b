import { checkDeploymentNames } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/deployment-name',
  severity: 'warning',
  summary: 'Deployments have different names, which are DNS names',
  fix: 'name: etcd-operator, each deployment once',
  opm: [
    "cluster service version contains duplicate strategy deployment spec 'D'",
    "invalid cluster service version strategy deployment name 'D': …",
  ],
  inspect: checkDeploymentNames,
};
