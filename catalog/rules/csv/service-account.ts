import { checkServiceAccounts } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/service-account',
  severity: 'error',
  summary: 'The bundle does not contain a service account that OLM creates for a deployment',
  opm: ['invalid service account found in bundle. …'],
  inspect: checkServiceAccounts,
};
