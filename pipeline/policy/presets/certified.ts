/** The gate of redhat-openshift-ecosystem/certified-operators and redhat-marketplace-operators. */
import { COMMON, ELSEWHERE, OPERATOR_PIPELINES } from './operator-pipelines.ts';
import type { Preset } from './preset.ts';

const BUNDLE = 'operatorcert/static_tests/isv/bundle.py';
const TASKS = 'ansible/roles/operator-pipeline/templates/openshift/tasks';

export const CERTIFIED: Preset = {
  name: 'certified',
  gate: 'operator-pipelines for certified operators',
  ...OPERATOR_PIPELINES,
  bundleRegistries: 'config.yaml',
  rows: [
    ...COMMON,
    { check: 'check_pruned_graph', source: BUNDLE, rules: { 'operator/pruned-graph': 'warning' } },
    { check: 'check_marketplace_annotation', source: BUNDLE, rules: { 'operator/marketplace': 'error' } },
    {
      check: 'certification-project-check, verify-project, reserve-operator-name',
      source: `${TASKS}/cert-project-check.yml`,
      notChecked: "needs Red Hat's certification service",
    },
    ...ELSEWHERE,
  ],
};
