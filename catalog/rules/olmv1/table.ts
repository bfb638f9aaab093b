import {
  checkAnnotationsFile,
  checkApiServices,
  checkDependencySupport,
  checkDeploymentNames,
  checkInstallModeSupport,
  checkProperties,
  checkWebhookSupport,
} from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'olmv1/annotations-file',
    severity: 'error',
    summary: 'Reports annotations outside of metadata/annotations.yaml, which OLM v1 does not read',
    fix: 'name the file metadata/annotations.yaml',
    opm: ['open metadata/annotations.yaml: no such file or directory'],
    inspect: checkAnnotationsFile,
  },
  {
    id: 'olmv1/api-service',
    severity: 'info',
    summary: 'Reports bundles that own API services, which OLM v1 cannot install',
    fix: 'serve the API with CRDs',
    opm: ['unsupported bundle: apiServiceDefintions are not supported'],
    inspect: checkApiServices,
  },
  {
    id: 'olmv1/dependency',
    severity: 'info',
    summary: 'Reports bundles with dependencies, which OLM v1 cannot install',
    fix: 'explain in the description what users must install first',
    opm: ['bundle "B" has a dependency declared via property "T" which is currently not supported'],
    inspect: checkDependencySupport,
  },
  {
    id: 'olmv1/deployment-name',
    severity: 'warning',
    summary: 'Reports deployments with the same name, or with a name that is not a DNS name',
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
    summary: 'Reports bundles that do not support AllNamespaces, which OLM v1 cannot install',
    fix: 'support AllNamespaces',
    opm: ['unsupported bundle: bundle does not support AllNamespaces install mode'],
    inspect: checkInstallModeSupport,
  },
  {
    id: 'olmv1/properties',
    severity: 'error',
    summary: 'Reports properties that OLM v1 cannot read, so that it cannot load the bundle',
    fix: 'write a list of properties in metadata/properties.yaml, each with type and value',
    opm: [
      "failed to unmarshal csv.metadata.annotations['olm.properties']: …",
      'failed to unmarshal metadata/properties.yaml: …',
    ],
    inspect: checkProperties,
  },
  {
    id: 'olmv1/webhooks',
    severity: 'info',
    summary: 'Reports bundles with webhooks, which OLM v1 installs from 1.4 on',
    fix: 'nothing to do for OpenShift 4.20 and later; remove the webhooks for earlier versions',
    opm: ['unsupported bundle: webhookDefinitions are not supported'],
    inspect: checkWebhookSupport,
  },
];
