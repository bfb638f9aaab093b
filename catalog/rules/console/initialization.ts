import { checkInitialization } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/initialization',
  severity: 'warning',
  summary: 'The resource that initialises an operator is one object of an owned API',
  fix: 'use one JSON object of an API that the ClusterServiceVersion owns',
  inspect: checkInitialization,
};
