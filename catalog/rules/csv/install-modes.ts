import { checkInstallModes } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/install-modes',
  severity: 'error',
  summary: 'At least one install mode is supported',
  opm: ['(N) install modes not found', '(N) none of InstallModeTypes are supported'],
  inspect: checkInstallModes,
};
