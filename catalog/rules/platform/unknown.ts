import { checkInspected } from '../../bundle/check/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/unknown',
  severity: 'warning',
  summary: 'Registries say for which platforms the images of a bundle are',
  opm: [`unable to inspect the image (I) : …`],
  inspect: checkInspected,
};
