import { checkSelectableFields } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/selectable-field',
  severity: 'error',
  summary: 'Selectable fields are at most eight different paths',
  fix: 'selectableFields: [{jsonPath: .spec.size}], each a text, a number or true or false of the schema',
  opm: ['selectableFields: …'],
  inspect: checkSelectableFields,
};
