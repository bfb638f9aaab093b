import { checkMinKubeUsable } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api/min-kube-version',
  severity: 'error',
  summary: 'The Kubernetes versions for which removed APIs are looked for are valid',
  fix: 'minKubeVersion: 1.28.0',
  opm: [
    'invalid value informed via the k8s key option : V',
    'unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: V',
  ],
  inspect: checkMinKubeUsable,
};
