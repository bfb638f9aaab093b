import { checkPackageNamed } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/package',
  severity: 'error',
  summary: 'The annotations name the package',
  fix: 'operators.operatorframework.io.bundle.package.v1: etcd',
  opm: ['package name is empty'],
  inspect: checkPackageNamed,
};
