/** What the gates of operator-pipelines have in common. */
import type { Preset, PresetRow } from './preset.ts';

const BUNDLE = 'operatorcert/static_tests/common/bundle.py';
const OPERATOR = 'operatorcert/static_tests/common/operator.py';
const CATALOGS = 'operatorcert/static_tests/common/operator_catalogs.py';
const TASKS = 'ansible/roles/operator-pipeline/templates/openshift/tasks';

/** The sources that the rows name. */
const OPERATOR_PIPELINES = {
  repository: 'redhat-openshift-ecosystem/operator-pipelines',
  commit: '422dfd6e9876ec9fdfa2d053c6f9abd77fe3d058',
  date: '2026-08-20',
} as const;

/** Checks of every operator. */
const COMMON: readonly PresetRow[] = [
  {
    check: 'detect-changes',
    source: 'operatorcert/parsed_file.py',
    rules: {
      'operator/pull-request': 'error',
      'operator/bundle-changed': 'error',
      'operator/bundle-deleted': 'error',
    },
    differs:
      'the gate refuses a pull request to other files alone; Portolan refuses them beside operators or catalogs',
  },
  { check: 'check_operator_name', source: BUNDLE, rules: { 'operator/name': 'error' } },
  { check: 'check_bundle_release_config', source: BUNDLE, rules: { 'operator/release-template': 'error' } },
  {
    check: 'check_validate_schema_bundle_release_config',
    source: BUNDLE,
    rules: { 'operator/release-config': 'error' },
  },
  { check: 'check_network_policy_presence', source: BUNDLE, rules: { 'manifest/network-policy': 'error' } },
  {
    check: 'check_operator_version_directory_name',
    source: BUNDLE,
    rules: { 'operator/version-folder': 'error' },
  },
  {
    check: 'check_replaces_availability',
    source: BUNDLE,
    rules: { 'operator/replaces': 'error' },
    differs:
      "the gate asks Red Hat's catalog which versions of OpenShift exist; Portolan has its own list of them",
  },
  { check: 'check_schema_operator_ci_config', source: OPERATOR, rules: { 'operator/ci-config': 'error' } },
  {
    check: 'check_catalog_usage_ci_config',
    source: OPERATOR,
    rules: { 'operator/catalog-mapping': 'error' },
  },
  { check: 'check_bundle_images_in_fbc', source: CATALOGS, rules: { 'bundle/registry': 'error' } },
  {
    check: 'check_olm_bundle_object_in_fbc',
    source: CATALOGS,
    rules: { 'bundle/metadata-format': 'error' },
    differs:
      'the gate looks at one of the changed catalogs; Portolan looks at all of them, also before 4.17. Blobs that opm cannot read fail validate-catalog-format alone',
  },
  {
    check: 'read-config',
    source: `${TASKS}/read-config.yaml`,
    rules: { 'operator/graph-unused': 'error' },
  },
  {
    check: 'validate-catalog-format',
    source: `${TASKS}/validate-catalog-format.yml`,
    opmValidate: true,
  },
];

/** What runs on a cluster, or asks services of Red Hat. */
const ELSEWHERE: readonly PresetRow[] = [
  { check: 'yaml-lint', source: `${TASKS}/yaml-lint.yml`, notChecked: 'yamllint has rules of style' },
  {
    check: 'check-permissions',
    source: `${TASKS}/check_permissions.yaml`,
    notChecked: 'the policy decides who may change a package (owners, approval)',
  },
  {
    check: 'content-hash, build-bundle',
    source: `${TASKS}/content-hash.yml`,
    notChecked: 'needs a build of the image',
  },
  { check: 'preflight', source: `${TASKS}/preflight-trigger.yml`, notChecked: 'needs a cluster' },
];

// The gate of redhat-openshift-ecosystem/certified-operators and redhat-marketplace-operators.

const CERTIFIED_BUNDLE = 'operatorcert/static_tests/isv/bundle.py';

export const CERTIFIED: Preset = {
  name: 'certified',
  gate: 'operator-pipelines for certified operators',
  ...OPERATOR_PIPELINES,
  bundleRegistries: 'config.yaml',
  rows: [
    ...COMMON,
    { check: 'check_pruned_graph', source: CERTIFIED_BUNDLE, rules: { 'operator/pruned-graph': 'warning' } },
    {
      check: 'check_marketplace_annotation',
      source: CERTIFIED_BUNDLE,
      rules: { 'operator/marketplace': 'error' },
    },
    {
      check: 'certification-project-check, verify-project, reserve-operator-name',
      source: `${TASKS}/cert-project-check.yml`,
      notChecked: "needs Red Hat's certification service",
    },
    ...ELSEWHERE,
  ],
};

// The gate of redhat-openshift-ecosystem/community-operators-prod.

const COMMUNITY_BUNDLE = 'operatorcert/static_tests/community/bundle.py';
const COMMUNITY_OPERATOR = 'operatorcert/static_tests/community/operator.py';

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
      source: COMMUNITY_BUNDLE,
      validators: 'name=operatorhub',
    },
    {
      check: 'check_osdk_bundle_validate_operator_framework',
      source: COMMUNITY_BUNDLE,
      validators: 'suite=operatorframework',
    },
    { check: 'check_required_fields', source: COMMUNITY_BUNDLE, rules: { 'store/required-field': 'error' } },
    {
      check: 'check_dangling_bundles',
      source: COMMUNITY_BUNDLE,
      rules: { 'operator/dangling': 'error', 'operator/edge': 'error', 'operator/update-graph': 'error' },
    },
    {
      check: 'check_api_version_constraints',
      source: COMMUNITY_BUNDLE,
      rules: { 'operator/kubernetes-version': 'error' },
      differs: "the gate's table ends with OpenShift 4.17; for later versions Portolan warns",
    },
    { check: 'check_using_fbc', source: COMMUNITY_BUNDLE, rules: { 'operator/without-catalogs': 'warning' } },
    {
      check: 'check_operator_name_unique',
      source: COMMUNITY_OPERATOR,
      rules: { 'operator/other-name': 'error' },
    },
    {
      check: 'check_ci_upgrade_graph',
      source: COMMUNITY_OPERATOR,
      rules: { 'operator/update-graph': 'error', 'operator/update-graph-missing': 'warning' },
    },
    {
      check: 'check_upgrade_graph_loop',
      source: COMMUNITY_OPERATOR,
      rules: { 'operator/loop': 'error', 'operator/edge': 'error', 'operator/update-graph': 'error' },
    },
    ...ELSEWHERE,
  ],
};
