import { checkPrinterColumns } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/printer-column',
  severity: 'error',
  summary: 'Printer columns have a name, a type and a path',
  fix: '{name: Size, type: integer, jsonPath: .spec.size}',
  opm: ['additionalPrinterColumns[i].F: …'],
  inspect: checkPrinterColumns,
};
