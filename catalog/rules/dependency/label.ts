import { checkLabelDependency } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/label',
  severity: 'error',
  summary: 'A dependency on a label has a label',
  fix: 'value: {label: …}',
  opm: ['Label information is missing'],
  inspect: checkLabelDependency,
};
