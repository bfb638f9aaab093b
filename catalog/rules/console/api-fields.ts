import { checkApiFields } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/api-fields',
  severity: 'warning',
  summary: 'Owned and required APIs have a name, a version, a kind, a display name and a description',
  fix: 'set name, version, kind, displayName and description for every API',
  inspect: checkApiFields,
};
