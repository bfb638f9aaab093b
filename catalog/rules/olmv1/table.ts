import {
  checkAnnotationsFile,
  checkApiServices,
  checkDependencySupport,
  checkDeploymentNames,
  checkInstallModeSupport,
  checkWebhookSupport,
} from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'olmv1/annotations-file',
    severity: 'info',
    summary: 'OLM v1 reads the annotations from metadata/annotations.yaml',
    fix: 'name the file metadata/annotations.yaml',
    opm: ['open metadata/annotations.yaml: no such file or directory'],
    inspect: checkAnnotationsFile,
  },
  {
    id: 'olmv1/api-service',
    severity: 'info',
    summary: 'OLM v1 can install the bundle: it owns no API services',
    fix: 'serve the API with CRDs',
    opm: ['unsupported bundle: apiServiceDefintions are not supported'],
    inspect: checkApiServices,
  },
  {
    id: 'olmv1/dependency',
    severity: 'info',
    summary: 'OLM v1 can install the bundle: it has no dependencies',
    fix: 'explain in the description what users must install first',
    opm: ['bundle "B" has a dependency declared via property "T" which is currently not supported'],
    inspect: checkDependencySupport,
  },
  {
    id: 'olmv1/deployment-name',
    severity: 'warning',
    summary: 'Deployments have different names, which are DNS names',
    fix: 'name: etcd-operator, each deployment once',
    opm: [
      "cluster service version contains duplicate strategy deployment spec 'D'",
      "invalid cluster service version strategy deployment name 'D': …",
    ],
    inspect: checkDeploymentNames,
  },
  {
    id: 'olmv1/install-mode',
    severity: 'info',
    summary: 'OLM v1 can install the bundle: it supports AllNamespaces',
    fix: 'support AllNamespaces',
    opm: ['unsupported bundle: bundle does not support AllNamespaces install mode'],
    inspect: checkInstallModeSupport,
  },
  {
    id: 'olmv1/webhooks',
    severity: 'info',
    summary: 'OLM v1 can install the bundle: webhooks need OLM v1 1.4',
    fix: 'nothing to do for OpenShift 4.20 and later; remove the webhooks for earlier versions',
    opm: ['unsupported bundle: webhookDefinitions are not supported'],
    inspect: checkWebhookSupport,
  },
];
