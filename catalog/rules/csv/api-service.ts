import { checkApiServiceDeployment } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/api-service',
  severity: 'warning',
  summary: 'An owned API service names a deployment of the ClusterServiceVersion',
  fix: 'set deploymentName to add a deployment to spec.install.spec.deployments',
  inspect: checkApiServiceDeployment,
};
