import { checkPackageDependency } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/package',
  severity: 'error',
  summary: 'A dependency on a package has a package name and a version range',
  opm: ['Package name is empty', 'Package version is empty', 'Invalid semver format version'],
  inspect: checkPackageDependency,
};
