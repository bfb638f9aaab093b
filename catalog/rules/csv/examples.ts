import { checkExamples } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/examples',
  severity: 'error',
  summary: 'Examples are a JSON list of objects',
  fix: 'alm-examples: \'[{"apiVersion": "etcd.io/v1", "kind": "Etcd", "spec": {}}]\'',
  opm: ['invalid example', 'error decoding example CustomResource'],
  inspect: checkExamples,
};
