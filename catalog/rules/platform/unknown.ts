import { checkInspected } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/unknown',
  severity: 'warning',
  summary: 'Registries say for which platforms the images of a bundle are',
  fix: 'let the registry be asked, or say the platforms with labels operatorframework.io/arch.…',
  opm: [`unable to inspect the image (I) : …`],
  inspect: checkInspected,
};
