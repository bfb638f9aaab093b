import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/yaml',
  severity: 'error',
  summary: "A YAML document is YAML as Go's tools read it",
  fix: 'correct the document at the line of the finding',
  opm: ['error converting YAML to JSON: yaml: …', 'invalid Yaml document separator: …'],
};
