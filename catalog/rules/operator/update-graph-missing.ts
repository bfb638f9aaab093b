import { settingOf, settingsPlace, usesCatalogs } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/update-graph-missing',
  severity: 'warning',
  isOptional: true,
  summary: 'Reports a ci.yaml without updateGraph',
  opm: ["The 'updateGraph' option is missing in ci.yaml."],
  operator(operator, report) {
    if (usesCatalogs(operator) || operator.config?.defect || settingOf(operator.config, 'updateGraph'))
      return;
    const message = 'ci.yaml does not say how versions replace each other: replaces-mode is used';
    report(message, settingsPlace(operator), { package: operator.name, hint: 'updateGraph: replaces-mode' });
  },
};
