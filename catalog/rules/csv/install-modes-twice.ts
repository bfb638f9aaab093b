import { checkInstallModesOnce } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/install-modes-twice',
  severity: 'warning',
  summary: 'Each install mode is listed once',
  fix: 'keep one of the two',
  opm: ['(N) duplicate install modes present'],
  inspect: checkInstallModesOnce,
};
