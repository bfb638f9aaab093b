import { checkDependencyTypes } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/type',
  severity: 'error',
  summary: 'A dependency is of a type that OLM knows, and its value fits it',
  opm: ["couldn't parse dependency of type T"],
  inspect: checkDependencyTypes,
};
