import { checkWebhookDeployment } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/deployment',
  severity: 'warning',
  summary: 'A webhook is served by a deployment of the ClusterServiceVersion',
  fix: 'deploymentName: the name of a deployment in spec.install.spec.deployments',
  opm: ["webhook of type 'T' with name 'W' references non-existent deployment 'D'"],
  inspect: checkWebhookDeployment,
};
