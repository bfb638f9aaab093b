import { checkStorageVersion } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/storage-version',
  severity: 'error',
  summary: 'A CRD has exactly one storage version',
  fix: 'set storage: true for one version, storage: false for the others',
  opm: ['spec.versions: must have exactly one version marked as storage version'],
  inspect: checkStorageVersion,
};
