import { catalogFolder } from '../../fbc/fragment.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fragment/package',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a Dockerfile of a catalog that copies no olm.package into it',
  opm: ['There are no olm package entries defined in this FBC fragment.'],
  fragment(fragment, report) {
    if (fragment.hasPackage !== false) return;
    const message = `${fragment.path}: no file in ${catalogFolder(fragment)} has an olm.package`;
    report(message, fragment.place, { hint: 'copy the catalog of at least one package' });
  },
};
