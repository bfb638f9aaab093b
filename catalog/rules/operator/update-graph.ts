import { settingOf, settingsPlace, usesCatalogs } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/update-graph',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an updateGraph in ci.yaml that is neither replaces-mode nor semver-mode',
  opm: [
    "The 'updateGraph' option in ci.yaml must be one of ['replaces-mode', 'semver-mode']",
    "The 'updateGraph' option is missing in ci.yaml.",
  ],
  operator(operator, report) {
    if (usesCatalogs(operator) || operator.config?.defect) return;
    const mode = settingOf(operator.config, 'updateGraph');
    if (mode === 'replaces-mode' || mode === 'semver-mode') return;
    const details = { package: operator.name, hint: 'updateGraph: replaces-mode' };
    if (mode === undefined || mode === null || mode === '') {
      const message = 'ci.yaml does not say how versions replace each other: replaces-mode is used';
      report(message, settingsPlace(operator), { ...details, severity: 'warning' });
    } else {
      const message = `ci.yaml: found updateGraph ${JSON.stringify(mode)}, expected replaces-mode or semver-mode`;
      report(message, operator.config?.locate('updateGraph') ?? settingsPlace(operator), details);
    }
  },
};
