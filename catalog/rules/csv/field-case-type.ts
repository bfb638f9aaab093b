import { checkMiscasedType } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/field-case-type',
  severity: 'error',
  summary:
    'Fields of the ClusterServiceVersion that are spelled in another case have the types that operator-sdk reads',
  fix: 'spell the field as in the reference, or remove it',
  opm: ['unable to parse CSV FILE: … cannot unmarshal … into Go struct field …'],
  inspect: checkMiscasedType,
};
