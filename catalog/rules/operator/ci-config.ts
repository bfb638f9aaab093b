import { CI_CONFIG, reportSettings } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/ci-config',
  severity: 'error',
  isOptional: true,
  summary: 'Reports what operator-pipelines does not accept in ci.yaml',
  opm: ["Operator's 'ci.yaml' contains invalid data which does not comply with the schema: E"],
  operator({ name, config }, report) {
    if (config) reportSettings(config, CI_CONFIG, report, name);
  },
};
