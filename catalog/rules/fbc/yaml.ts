import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/yaml',
  severity: 'error',
  summary: "A YAML document is valid for Go's YAML library",
  fix: 'correct the document at this line',
  opm: ['error converting YAML to JSON: yaml: …', 'invalid Yaml document separator: …'],
};
