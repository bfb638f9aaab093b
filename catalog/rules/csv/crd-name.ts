import { checkCrdNames } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/crd-name',
  severity: 'error',
  summary: 'Owned and required CRDs are named <plural>.<group>',
  fix: 'name: PLURAL.GROUP, the name of the definition',
  opm: ["couldn't parse plural.group from crd name: N"],
  inspect: checkCrdNames,
};
