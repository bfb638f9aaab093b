import { checkPropertiesAnnotation } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/properties-annotation',
  severity: 'warning',
  summary: 'Properties are in metadata/properties.yaml',
  opm: [
    'found olm.properties annotation, please define these properties in metadata/properties.yaml instead',
  ],
  inspect: checkPropertiesAnnotation,
};
