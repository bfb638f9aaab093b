/** The gate of redhat-openshift-ecosystem/community-operators-prod. */
import { COMMON, ELSEWHERE, OPERATOR_PIPELINES } from './operator-pipelines.ts';
import type { Preset } from './preset.ts';

const BUNDLE = 'operatorcert/static_tests/community/bundle.py';
const OPERATOR = 'operatorcert/static_tests/community/operator.py';

export const COMMUNITY: Preset = {
  name: 'community',
  gate: 'operator-pipelines for community operators',
  ...OPERATOR_PIPELINES,
  bundleRegistries: 'config.yaml',
  checksNewestPlatform: true,
  rows: [
    ...COMMON,
    {
      check: 'check_osdk_bundle_validate_operatorhub',
      source: BUNDLE,
      validators: 'name=operatorhub',
    },
    {
      check: 'check_osdk_bundle_validate_operator_framework',
      source: BUNDLE,
      validators: 'suite=operatorframework',
    },
    { check: 'check_required_fields', source: BUNDLE, rules: { 'store/required-field': 'error' } },
    {
      check: 'check_dangling_bundles',
      source: BUNDLE,
      rules: { 'operator/dangling': 'error', 'operator/edge': 'error', 'operator/update-graph': 'error' },
    },
    {
      check: 'check_api_version_constraints',
      source: BUNDLE,
      rules: { 'operator/kubernetes-version': 'error' },
      differs: "the gate's table ends with OpenShift 4.17; for later versions Portolan warns",
    },
    { check: 'check_using_fbc', source: BUNDLE, rules: { 'operator/without-catalogs': 'warning' } },
    { check: 'check_operator_name_unique', source: OPERATOR, rules: { 'operator/other-name': 'error' } },
    {
      check: 'check_ci_upgrade_graph',
      source: OPERATOR,
      rules: { 'operator/update-graph': 'error', 'operator/update-graph-missing': 'warning' },
    },
    {
      check: 'check_upgrade_graph_loop',
      source: OPERATOR,
      rules: { 'operator/loop': 'error', 'operator/edge': 'error', 'operator/update-graph': 'error' },
    },
    ...ELSEWHERE,
  ],
};
