import { checkConversionOwned } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/conversion-owned',
  severity: 'warning',
  summary: 'A webhook converts definitions that are owned and prune unknown fields',
  fix: 'conversionCRDs: definitions that the ClusterServiceVersion owns, with preserveUnknownFields: false',
  opm: [
    "conversion webhook 'W' references custom resource definition 'C' not owned bundle",
    "custom resource definition 'C' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion",
  ],
  inspect: checkConversionOwned,
};
