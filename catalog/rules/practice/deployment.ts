import { checkDeployments } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/deployment',
  severity: 'error',
  summary: 'An operator has a deployment',
  fix: 'add a deployment to spec.install.spec.deployments',
  opm: ['unable to find a deployment to install in the CSV'],
  inspect: checkDeployments,
};
