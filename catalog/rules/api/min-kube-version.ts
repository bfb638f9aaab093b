import { checkMinKubeUsable } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api/min-kube-version',
  severity: 'error',
  summary: 'A bundle declares its minimum Kubernetes version in minKubeVersion',
  fix: 'minKubeVersion: 1.28.0',
  opm: [
    'unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: V',
  ],
  inspect: checkMinKubeUsable,
};
