import { checkApiExamples } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/api-example',
  severity: 'warning',
  summary: 'Every owned API has an example',
  fix: 'add an object of the API to the annotation alm-examples',
  opm: ['provided API should have an example annotation'],
  inspect: checkApiExamples,
};
