import { checkMinKubeVersionBlank } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/min-kube-version-blank',
  severity: 'error',
  summary: 'The field minKubeVersion does not consist of blanks',
  fix: 'minKubeVersion: 1.28.0',
  inspect: checkMinKubeVersionBlank,
};
