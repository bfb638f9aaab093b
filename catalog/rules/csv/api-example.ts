import { checkApiExamples } from '../../bundle/check/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/api-example',
  severity: 'warning',
  summary: 'There is an example of every owned API',
  opm: ['provided API should have an example annotation'],
  inspect: checkApiExamples,
};
