import { checkInspected } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/unknown',
  severity: 'warning',
  summary: "The platforms of a bundle's images are known",
  fix: 'allow Portolan to contact the registry, or declare the platforms with labels operatorframework.io/arch.…',
  opm: [`unable to inspect the image (I) : …`],
  inspect: checkInspected,
};
