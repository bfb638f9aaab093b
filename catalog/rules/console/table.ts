import {
  checkApiFields,
  checkDescriptors,
  checkFeatures,
  checkFeaturesPresent,
  checkInfrastructure,
  checkInitialization,
  checkInternalObjects,
  checkNamespaceTemplate,
  checkPlatformLabelNames,
  checkPresentation,
  checkSubscriptions,
  checkSuggestedNamespace,
} from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'console/api-fields',
    severity: 'warning',
    summary: 'Reports owned and required APIs without a name, version, kind, display name or description',
    fix: 'set name, version, kind, displayName and description for every API',
    inspect: checkApiFields,
  },
  {
    id: 'console/descriptor',
    severity: 'warning',
    summary: 'Reports descriptors without a path, and x-descriptors that are not URNs',
    fix: 'path: size, x-descriptors: ["urn:alm:descriptor:com.tectonic.ui:podCount"]',
    inspect: checkDescriptors,
  },
  {
    id: 'console/feature',
    severity: 'warning',
    summary: 'Reports feature annotations that consoles do not know, or that are neither true nor false',
    inspect: checkFeatures,
  },
  {
    id: 'console/features-missing',
    severity: 'info',
    summary: 'Reports features that the ClusterServiceVersion declares neither as true nor as false',
    opm: [`required annotation missing: features.operators.openshift.io/F`],
    inspect: checkFeaturesPresent,
  },
  {
    id: 'console/infrastructure',
    severity: 'warning',
    summary: 'Reports infrastructure features that are not a JSON list of features that consoles know',
    inspect: checkInfrastructure,
  },
  {
    id: 'console/initialization',
    severity: 'warning',
    summary: 'Reports initialization resources that are not one object of an owned API',
    fix: 'use one JSON object of an API that the ClusterServiceVersion owns',
    inspect: checkInitialization,
  },
  {
    id: 'console/internal-objects',
    severity: 'warning',
    summary: 'Reports internal objects that are not CRDs that the ClusterServiceVersion owns',
    inspect: checkInternalObjects,
  },
  {
    id: 'console/namespace-template',
    severity: 'warning',
    summary: 'Reports templates of the suggested namespace that are not a Namespace',
    fix: '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "etcd"}}',
    inspect: checkNamespaceTemplate,
  },
  {
    id: 'console/namespace',
    severity: 'warning',
    summary: 'Reports suggested namespaces with an invalid name',
    fix: 'operatorframework.io/suggested-namespace: etcd-operator',
    inspect: checkSuggestedNamespace,
  },
  {
    id: 'console/platform-label',
    severity: 'warning',
    summary: 'Reports platform labels that name an unknown platform or have a value other than supported',
    inspect: checkPlatformLabelNames,
  },
  {
    id: 'console/presentation',
    severity: 'warning',
    summary:
      'Reports operators without a description, keywords, maintainers, a maturity or a capability level',
    fix: 'set description, keywords, maintainers, maturity and the annotation capabilities',
    inspect: checkPresentation,
  },
  {
    id: 'console/subscription',
    severity: 'warning',
    summary: 'Reports valid subscriptions that are not a JSON list of strings',
    inspect: checkSubscriptions,
  },
];
