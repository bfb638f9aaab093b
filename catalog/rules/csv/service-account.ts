import { checkServiceAccounts } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/service-account',
  severity: 'error',
  summary: 'The bundle brings no service account that OLM makes for a deployment',
  opm: ['invalid service account found in bundle. …'],
  inspect: checkServiceAccounts,
};
