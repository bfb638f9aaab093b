import { checkMaintainers } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/maintainer',
  severity: 'error',
  summary: 'Maintainers have a name and one email address',
  fix: '{name: Team, email: team@example.com}',
  opm: [
    '(N) csv.Spec.Maintainers elements should contain both name and email',
    '(N) csv.Spec.Maintainers email E is invalid: …',
  ],
  inspect: checkMaintainers,
};
