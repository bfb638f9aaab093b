import { checkStorageVersion } from '../../bundle/check/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/storage-version',
  severity: 'error',
  summary: 'A definition has exactly one storage version',
  opm: ['spec.versions: must have exactly one version marked as storage version'],
  inspect: checkStorageVersion,
};
