import { checkObjectsOnce } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/duplicate-object',
  severity: 'warning',
  summary: 'No two manifests define the same object',
  fix: 'keep one of the two, or give them different names',
  inspect: checkObjectsOnce,
};
