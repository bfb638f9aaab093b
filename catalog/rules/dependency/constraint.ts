import { checkConstraint } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/constraint',
  severity: 'error',
  summary: 'A constraint is a CEL rule that returns true or false',
  fix: 'value: {failureMessage: …, cel: {rule: \'properties.exists(p, p.type == "olm.package")\'}}',
  opm: ['The CEL field is missing', 'The CEL expression is missing', 'Invalid CEL expression: …'],
  inspect: checkConstraint,
};
