/** The gate of k8s-operatorhub/community-operators, whose operators OperatorHub.io shows. */
import type { Preset } from './preset.ts';

const VALIDATE = 'upstream/roles/validate_operator_bundle/tasks/main.yml';

export const OPERATORHUB: Preset = {
  name: 'operatorhub',
  gate: 'the workflows of OperatorHub.io',
  repository: 'redhat-openshift-ecosystem/operator-test-playbooks',
  commit: '8389718202e39567682677693b9edf5c3538bff8',
  date: '2025-08-01',
  rows: [
    {
      check: 'operator-sdk bundle validate',
      source: VALIDATE,
      validators: 'suite=operatorframework',
    },
    { check: 'categories', source: VALIDATE, rules: { 'operator/categories': 'error' } },
    {
      check: 'index with the bundle (opm index add)',
      source: 'upstream/roles/build_operator_index/tasks/main.yml',
      notChecked:
        'needs images of the bundles; bundleCatalogs in the policy makes the same catalog from their folders',
    },
    {
      check: 'operator info',
      source: 'upstream/roles/operator_info/tasks/main.yml',
      notChecked: 'depends on labels of the pull request',
    },
    {
      check: 'deployment on kind',
      source: 'upstream/roles/deploy_olm_operator_upstream/tasks/main.yml',
      notChecked: 'needs a cluster',
    },
  ],
};
