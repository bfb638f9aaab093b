import { CONFIGS_LABEL } from '../../fbc/fragment.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fragment/label',
  severity: 'error',
  isOptional: true,
  summary: `Reports a Dockerfile of a catalog without the label ${CONFIGS_LABEL}, which names the catalog's folder`,
  opm: ["The 'operators.operatorframework.io.index.configs.v1' label should be defined for FBC image"],
  fragment({ path, labels, place }, report) {
    const label = labels.get(CONFIGS_LABEL);
    if (label?.value !== '' && label) return;
    const where = label ? { ...place, line: label.line } : place;
    report(`${path}: the image has no label ${CONFIGS_LABEL}`, where, {
      hint: `LABEL ${CONFIGS_LABEL}=/configs`,
    });
  },
};
