import { checkSelectableFields } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/selectable-field',
  severity: 'error',
  summary: 'A CRD version has at most eight different selectable fields',
  fix: 'selectableFields: [{jsonPath: .spec.size}], each a string, integer or boolean field of the schema',
  opm: ['selectableFields: …'],
  inspect: checkSelectableFields,
};
