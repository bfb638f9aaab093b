import { checkApiServices } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/api-service',
  severity: 'info',
  summary: 'OLM v1 can install the bundle: it owns no API services',
  fix: 'serve the API with CRDs',
  opm: ['unsupported bundle: apiServiceDefintions are not supported'],
  inspect: checkApiServices,
};
