import { checkLinks } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/link',
  severity: 'error',
  summary: 'Links have a name and a URL',
  fix: '{name: Documentation, url: https://example.com/docs}',
  opm: [
    '(N) csv.Spec.Links elements should contain both name and url',
    '(N) csv.Spec.Links url U is invalid: …',
  ],
  inspect: checkLinks,
};
