import { checkCreatesCrds } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/creates-crds',
  severity: 'warning',
  summary: 'An operator does not create CRDs',
  opm: ['CSV contains permissions to create CRD. …'],
  inspect: checkCreatesCrds,
};
