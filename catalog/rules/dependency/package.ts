import { checkPackageDependency } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/package',
  severity: 'error',
  summary: 'A dependency on a package names it and a range of versions',
  opm: ['Package name is empty', 'Package version is empty', 'Invalid semver format version'],
  inspect: checkPackageDependency,
};
