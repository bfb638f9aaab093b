import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/kind',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a manifest of a kind that the release policy of Conforma does not allow',
  opm: ['The "K" manifest kind is not in the list of OLM allowed resource kinds.'],
  inspect({ allObjects }, report) {
    for (const { kind, name, document } of allObjects) {
      if (ALLOWED.has(kind)) continue;
      const message = `${kind} ${JSON.stringify(name)} has a kind that the release policy does not allow in bundles`;
      report(message, document.locate(['kind']), { hint: 'let the operator create the object' });
    }
  },
};

/** @see https://github.com/conforma/policy/blob/7211d032/policy/lib/rule_data/rule_data.rego allowed_olm_resource_kinds */
const ALLOWED: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'ClusterServiceVersion',
  'ConfigMap',
  'ConsoleCLIDownload',
  'ConsoleLink',
  'ConsolePlugin',
  'ConsoleQuickStart',
  'ConsoleYAMLSample',
  'CustomResourceDefinition',
  'PodDisruptionBudget',
  'PriorityClass',
  'PrometheusRule',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'ServiceMonitor',
  'VerticalPodAutoscaler',
]);
