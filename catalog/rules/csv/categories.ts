import { checkCategories } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/categories',
  severity: 'error',
  summary: 'Categories are standard or configured categories',
  opm: [
    '(N) csv.Metadata.Annotations["categories"] value "C" is not in the set of standard categories',
    '(N) could not extract custom categories from categories …',
  ],
  inspect: checkCategories,
};
