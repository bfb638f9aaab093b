import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/default-unknown',
  severity: 'error',
  summary: 'The default channel of a package file is one of its channels',
  fix: 'set defaultChannel to one of the channels',
  opm: ['(p) default channel "c" not found in the list of declared channels'],
};
