import { checkCapabilities } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/capabilities',
  severity: 'error',
  summary: 'The capability level is one of the five standard levels',
  fix: 'capabilities: Basic Install',
  opm: ['(N) csv.Metadata.Annotations.Capabilities "C" is not a valid capabilities level'],
  inspect: checkCapabilities,
};
