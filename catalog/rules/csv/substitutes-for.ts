import { checkSubstitutes } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/substitutes-for',
  severity: 'error',
  summary: 'A ClusterServiceVersion has either a release or a substitutesFor annotation',
  fix: 'remove spec.release or the annotation olm.substitutesFor',
  opm: ['bundle "B" cannot have both a release version ("R") and olm.substitutesFor annotation ("S")'],
  inspect: checkSubstitutes,
};
