import { checkIcon } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/icon',
  severity: 'error',
  summary: 'There is only one icon, with data and a media type that browsers support',
  fix: 'icon: [{base64data: …, mediatype: image/svg+xml}]',
  opm: [
    '(N) csv.Spec.Icon should only have one element',
    '(N) csv.Spec.Icon elements should contain both data and mediatype',
    '(N) csv.Spec.Icon M does not have a valid mediatype',
  ],
  inspect: checkIcon,
};
