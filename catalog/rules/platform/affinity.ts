import { checkAffinity } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/affinity',
  severity: 'info',
  summary: 'The node affinity of a deployment allows exactly the platforms of its images',
  opm: [
    `check if the CSV has a missing or invalid node affinity configuration for the image: I. …`,
    `the CSV includes A in the node affinity configuration for the image: I, but …`,
    `the image data indicates A is supported for the image: I, but …`,
  ],
  inspect: checkAffinity,
};
