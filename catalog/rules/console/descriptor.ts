import { checkDescriptors } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/descriptor',
  severity: 'warning',
  summary: 'Descriptors have a path, and their x-descriptors are URNs',
  fix: 'path: size, x-descriptors: ["urn:alm:descriptor:com.tectonic.ui:podCount"]',
  inspect: checkDescriptors,
};
