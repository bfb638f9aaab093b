import { checkDependencyTypes } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/type',
  severity: 'error',
  summary: 'A dependency has a type that OLM knows and a matching value',
  opm: ["couldn't parse dependency of type T"],
  inspect: checkDependencyTypes,
};
