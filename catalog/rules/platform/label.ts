import { checkPlatformLabels } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/label',
  severity: 'warning',
  summary: "The labels of a ClusterServiceVersion list every platform of the operator's image",
  opm: [
    `check if the CSV is missing the label (operatorframework.io/arch.<value>) for the Arch(s): …`,
    `check if the CSV is missing the label (operatorframework.io/os.<value>) for the OS(s): …`,
  ],
  inspect: checkPlatformLabels,
};
