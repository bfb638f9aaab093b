import { checkApiServiceDeployment } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/api-service',
  severity: 'warning',
  summary: 'An owned API service is served by a deployment of the ClusterServiceVersion',
  fix: 'deploymentName: the name of a deployment in spec.install.spec.deployments',
  inspect: checkApiServiceDeployment,
};
