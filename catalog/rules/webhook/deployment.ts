import { checkWebhookDeployment } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/deployment',
  severity: 'error',
  summary: 'A webhook names a deployment of the ClusterServiceVersion',
  fix: 'set deploymentName to the name of a deployment in spec.install.spec.deployments',
  opm: ["webhook of type 'T' with name 'W' references non-existent deployment 'D'"],
  inspect: checkWebhookDeployment,
};
