import { checkConversionOwned } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/conversion-owned',
  severity: 'error',
  summary: 'A conversion webhook names owned CRDs that prune unknown fields',
  fix: 'list in conversionCRDs only CRDs that the ClusterServiceVersion owns, with preserveUnknownFields: false',
  opm: [
    "conversion webhook 'W' references custom resource definition 'C' not owned bundle",
    "custom resource definition 'C' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion",
  ],
  inspect: checkConversionOwned,
};
