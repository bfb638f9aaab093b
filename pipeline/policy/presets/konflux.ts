/** The gate of fragments of file-based catalogs that Konflux builds. */
import type { Preset } from './preset.ts';

const VALIDATE = 'task/validate-fbc/0.2/validate-fbc.yaml';

export const KONFLUX: Preset = {
  name: 'konflux',
  gate: "Konflux's tasks for file-based catalogs",
  repository: 'konflux-ci/konflux-operator-tasks',
  commit: 'dee7049a3aae9294b121faf76af66506cd76f5a0',
  date: '2026-07-21',
  bundleRegistries: ['registry.redhat.io/', 'registry.stage.redhat.io/'],
  rows: [
    {
      check: 'validate-fbc: bundle metadata of the OpenShift version',
      source: VALIDATE,
      rules: { 'bundle/metadata-format': 'error', 'bundle/metadata-missing': 'error' },
      differs: "the gate takes the version from the tag of the base image, Portolan from the catalog's name",
    },
    { check: 'validate-fbc: digest-pinned bundles', source: VALIDATE, rules: { 'bundle/unpinned': 'error' } },
    { check: 'validate-fbc: trusted registries', source: VALIDATE, rules: { 'bundle/registry': 'error' } },
    {
      check: 'validate-fbc: opm validate, opm render',
      source: VALIDATE,
      opmValidate: true,
    },
    {
      check: 'validate-fbc: base image, grpc_health_probe',
      source: VALIDATE,
      rules: { 'fragment/base-image': 'error' },
      differs:
        'the gate looks into the image, Portolan at its Dockerfile; base images that the gate allows contain grpc_health_probe',
    },
    { check: 'validate-fbc: OpenShift versions', source: VALIDATE, rules: { 'fragment/versions': 'error' } },
    { check: 'validate-fbc: label of the fragment', source: VALIDATE, rules: { 'fragment/label': 'error' } },
    {
      check: 'validate-fbc: folders of packages',
      source: VALIDATE,
      rules: { 'fragment/folders': 'error' },
      differs: 'Portolan does not check folders that programs write during the build',
    },
    { check: 'validate-fbc: one olm.package', source: VALIDATE, rules: { 'fragment/package': 'error' } },
    {
      check: 'validate-fbc: related images',
      source: VALIDATE,
      notChecked: 'needs the released index, and attaches its result to the image',
    },
    {
      check: 'fbc-target-index-pruning-check',
      source: 'task/fbc-target-index-pruning-check/0.1/fbc-target-index-pruning-check.yaml',
      notChecked: 'needs the released index: portolan diff INDEX DIR --pruning compares with it',
    },
    {
      check: 'fbc-fips-check',
      source: 'task/fbc-fips-check/0.1/fbc-fips-check.yaml',
      notChecked: 'needs a scan of the images',
    },
    {
      check: 'fbc-inject-lifecycle',
      source: 'task/fbc-inject-lifecycle-oci-ta/0.1/fbc-inject-lifecycle-oci-ta.yaml',
      notChecked: 'changes the fragment and refuses nothing: portolan render --lifecycles does the same',
    },
  ],
};

// The release policy of Conforma for bundles (package `olm`).

const OLM = 'policy/release/olm/olm.rego';
const SNAPSHOT = 'needs the snapshot of the release';

export const CONFORMA: Preset = {
  name: 'conforma',
  gate: "Conforma's release policy for bundles",
  repository: 'conforma/policy',
  commit: '7211d0329e93fda0a6d6d3d33c3909fc6a7681ca',
  date: '2026-07-21',
  rows: [
    { check: 'olm.csv_semver_format', source: OLM, rules: { 'release/version': 'error' } },
    { check: 'olm.unpinned_references', source: OLM, rules: { 'disconnected/pinned': 'error' } },
    { check: 'olm.feature_annotations_format', source: OLM, rules: { 'release/features': 'error' } },
    {
      check: 'olm.subscriptions_annotation_format',
      source: OLM,
      rules: { 'release/subscriptions': 'error' },
    },
    { check: 'olm.allowed_registries', source: OLM, rules: { 'release/image-registry': 'error' } },
    { check: 'olm.allowed_resource_kinds', source: OLM, rules: { 'release/kind': 'error' } },
    {
      check: 'olm.required_network_policy_rbac_for_operands',
      source: OLM,
      rules: { 'release/network-policy-rights': 'error' },
      differs: 'Portolan knows no exceptions by operator: write a waiver',
    },
    {
      check: 'olm.inaccessible_related_images, olm.unmapped_references',
      source: OLM,
      rules: { 'image/digest-missing': 'error', 'image/tag-missing': 'error' },
      differs: 'Portolan asks only registries that the policy allows (registries.allow)',
    },
    { check: 'olm.unpinned_related_images', source: OLM, notChecked: SNAPSHOT },
    { check: 'olm.allowed_registries_related', source: OLM, notChecked: SNAPSHOT },
    { check: 'olm.unpinned_snapshot_references', source: OLM, notChecked: SNAPSHOT },
    {
      check: 'olm.olm_bundle_multi_arch',
      source: OLM,
      rules: { 'image/bundle-list': 'error' },
      differs:
        'Portolan looks at the images of bundles that catalogs reference, in registries that the policy allows (registries.allow)',
    },
    {
      check: 'olm.required_olm_features_annotations_provided',
      source: OLM,
      notChecked: "is about the policy's own data",
    },
  ],
};
