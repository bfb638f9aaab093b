import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/bundle-object',
  severity: 'error',
  summary: 'An olm.bundle.object contains a manifest in JSON or YAML, encoded as base64',
  fix: 'value: {data: <the manifest as base64>}',
  opm: [
    'read bundle objects: package "p", bundle "b": parse property at index i as bundle object: …',
    'read bundle objects: package "p", bundle "b": convert bundle object property at index i to JSON: …',
  ],
};
