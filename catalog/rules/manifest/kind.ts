import { checkKinds } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/kind',
  severity: 'error',
  summary: 'OLM can install the kinds of all manifests',
  opm: [
    'K is not supported type for registryV1 bundle: F',
    'unsupported media type registry+v1 for bundle object',
    'unsupported resource "n" with kind "K"',
  ],
  inspect: checkKinds,
};
