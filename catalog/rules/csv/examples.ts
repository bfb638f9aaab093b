import { checkExamples } from '../../bundle/check/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/examples',
  severity: 'error',
  summary: 'Examples are a JSON list of objects',
  opm: ['invalid example', 'error decoding example CustomResource'],
  inspect: checkExamples,
};
