import {
  checkConversionOnce,
  checkConversionOwned,
  checkWebhookDeployment,
  checkWebhookName,
  checkWebhookNamesOnce,
  checkWebhookRules,
  checkWebhookType,
} from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'webhook/conversion-owned',
    severity: 'error',
    summary: 'A conversion webhook names owned CRDs that prune unknown fields',
    fix: 'list in conversionCRDs only CRDs that the ClusterServiceVersion owns, with preserveUnknownFields: false',
    opm: [
      "conversion webhook 'W' references custom resource definition 'C' not owned bundle",
      "custom resource definition 'C' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion",
    ],
    inspect: checkConversionOwned,
  },
  {
    id: 'webhook/conversion-twice',
    severity: 'warning',
    summary: 'A CRD has one conversion webhook',
    fix: 'list the CRD in one webhook only',
    opm: ["conversion webhooks [V,W] reference same custom resource definition 'C'"],
    inspect: checkConversionOnce,
  },
  {
    id: 'webhook/deployment',
    severity: 'error',
    summary: 'A webhook names a deployment of the ClusterServiceVersion',
    fix: 'set deploymentName to the name of a deployment in spec.install.spec.deployments',
    opm: ["webhook of type 'T' with name 'W' references non-existent deployment 'D'"],
    inspect: checkWebhookDeployment,
  },
  {
    id: 'webhook/duplicate',
    severity: 'error',
    summary: 'No two webhooks have the same name',
    fix: 'give each webhook a different generateName',
    opm: ["duplicate webhook 'W' of type 'T'", 'CSV contains repeated WebhookDescription name'],
    inspect: checkWebhookNamesOnce,
  },
  {
    id: 'webhook/name',
    severity: 'warning',
    summary: 'A webhook has a DNS name',
    fix: 'generateName: vetcd.etcd.io',
    opm: ["webhook of type 'T' has invalid name 'W': …"],
    inspect: checkWebhookName,
  },
  {
    id: 'webhook/rules',
    severity: 'error',
    summary: 'A webhook does not apply to all API groups, nor to those of OLM and webhooks',
    fix: 'set apiGroups to the groups of your own kinds',
    opm: ['webhook "W" contains forbidden rule: …', 'webhook rules cannot include the OLM group'],
    inspect: checkWebhookRules,
  },
  {
    id: 'webhook/type',
    severity: 'error',
    summary: 'A webhook has a type that OLM knows',
    fix: 'type: ValidatingAdmissionWebhook',
    inspect: checkWebhookType,
  },
];
