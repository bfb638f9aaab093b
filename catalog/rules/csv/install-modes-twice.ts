import { checkInstallModesOnce } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/install-modes-twice',
  severity: 'warning',
  summary: 'An install mode stands once',
  fix: 'keep one of both',
  opm: ['(N) duplicate install modes present'],
  inspect: checkInstallModesOnce,
};
