/** The release policy of Conforma for bundles (package `olm`). */
import type { Preset } from './preset.ts';

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
