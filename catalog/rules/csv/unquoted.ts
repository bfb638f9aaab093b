import { checkUnquoted } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/unquoted',
  severity: 'error',
  summary: 'Numbers and booleans are quoted where a string is required',
  opm: ['json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string'],
  inspect: checkUnquoted,
};
