import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/bundle-object',
  severity: 'error',
  summary: 'An olm.bundle.object holds a manifest as base64 of JSON or YAML',
  fix: 'value: {data: the base64 of the manifest}',
  opm: [
    'read bundle objects: package "p", bundle "b": parse property at index i as bundle object: …',
    'read bundle objects: package "p", bundle "b": convert bundle object property at index i to JSON: …',
  ],
};
