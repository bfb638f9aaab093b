import { checkMinKubeUsable, checkRemovedIn } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'api/min-kube-version',
    severity: 'error',
    summary: 'Reports invalid Kubernetes versions for which removed APIs are looked for',
    fix: 'minKubeVersion: 1.28.0',
    opm: [
      'invalid value informed via the k8s key option : V',
      'unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: V',
    ],
    inspect: checkMinKubeUsable,
  },
  {
    id: 'api/removed-1-22',
    severity: 'error',
    summary: 'Reports manifests that use an API that Kubernetes 1.22 removed',
    opm: ['this bundle is using APIs which were deprecated and removed in v1.22. …'],
    inspect: checkRemovedIn('1.22'),
  },
  {
    id: 'api/removed-1-25',
    severity: 'error',
    summary: 'Reports manifests and permissions that use an API that Kubernetes 1.25 removed',
    opm: ['this bundle is using APIs which were deprecated and removed in v1.25. …'],
    inspect: checkRemovedIn('1.25'),
  },
  {
    id: 'api/removed-1-26',
    severity: 'error',
    summary: 'Reports manifests that use an API that Kubernetes 1.26 removed',
    opm: ['this bundle is using APIs which were deprecated and removed in v1.26. …'],
    inspect: checkRemovedIn('1.26'),
  },
];
