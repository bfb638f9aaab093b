import { checkDescriptors } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/descriptor',
  severity: 'warning',
  summary: 'Descriptors have a path, their hints are URNs',
  fix: 'path: size, and x-descriptors such as urn:alm:descriptor:com.tectonic.ui:podCount',
  inspect: checkDescriptors,
};
