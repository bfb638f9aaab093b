import { checkApiExamples } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/api-example',
  severity: 'warning',
  summary: 'There is an example of every owned API',
  fix: 'add an object of the API to the annotation alm-examples',
  opm: ['provided API should have an example annotation'],
  inspect: checkApiExamples,
};
