import { checkPresentation } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/presentation',
  severity: 'warning',
  summary: 'An operator has a description, keywords, maintainers, a maturity and a capability level',
  fix: 'set description, keywords, maintainers, maturity and the annotation capabilities',
  inspect: checkPresentation,
};
