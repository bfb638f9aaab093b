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
