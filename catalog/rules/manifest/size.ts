import { checkSize } from '../bundle-checks/size.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/size',
  severity: 'error',
  summary: 'The manifests of a bundle, compressed, fit into a ConfigMap',
  opm: [
    'maximum bundle compressed size with gzip size exceeded: …',
    'nearing maximum bundle compressed size with gzip: …',
  ],
  inspect: checkSize,
};
