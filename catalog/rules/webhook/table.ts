import {
  checkConversionDeclared,
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
    id: 'webhook/conversion-missing',
    severity: 'warning',
    summary: 'Reports CRDs that convert by a webhook which the ClusterServiceVersion does not declare',
    inspect: checkConversionDeclared,
  },
  {
    id: 'webhook/conversion-owned',
    severity: 'error',
    summary: 'Reports conversion webhooks of CRDs that are not owned or do not prune unknown fields',
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
    summary: 'Reports CRDs with several conversion webhooks',
    fix: 'list the CRD in one webhook only',
    opm: ["conversion webhooks [V,W] reference same custom resource definition 'C'"],
    inspect: checkConversionOnce,
  },
  {
    id: 'webhook/deployment',
    severity: 'error',
    summary: 'Reports webhooks that name no deployment of the ClusterServiceVersion',
    fix: 'set deploymentName to the name of a deployment in spec.install.spec.deployments',
    opm: ["webhook of type 'T' with name 'W' references non-existent deployment 'D'"],
    inspect: checkWebhookDeployment,
  },
  {
    id: 'webhook/duplicate',
    severity: 'error',
    summary: 'Reports webhooks with the same name',
    fix: 'give each webhook a different generateName',
    opm: ["duplicate webhook 'W' of type 'T'", 'CSV contains repeated WebhookDescription name'],
    inspect: checkWebhookNamesOnce,
  },
  {
    id: 'webhook/name',
    severity: 'warning',
    summary: 'Reports webhooks without a DNS name',
    fix: 'generateName: vetcd.etcd.io',
    opm: ["webhook of type 'T' has invalid name 'W': …"],
    inspect: checkWebhookName,
  },
  {
    id: 'webhook/rules',
    severity: 'error',
    summary: 'Reports webhooks that apply to all API groups, or to those of OLM and webhooks',
    fix: 'set apiGroups to the groups of your own kinds',
    opm: ['webhook "W" contains forbidden rule: …', 'webhook rules cannot include the OLM group'],
    inspect: checkWebhookRules,
  },
  {
    id: 'webhook/type',
    severity: 'error',
    summary: 'Reports webhooks with a type that OLM does not know',
    fix: 'type: ValidatingAdmissionWebhook',
    inspect: checkWebhookType,
  },
];
