import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/json',
  severity: 'error',
  summary: 'A file that starts with a brace is a stream of JSON values, or YAML',
  fix: 'write JSON values one after the other, or YAML',
  opm: ['json: offset N: …', 'unexpected EOF'],
};
