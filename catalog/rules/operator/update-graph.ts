import { settingOf, settingsPlace, usesCatalogs } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/update-graph',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an updateGraph in ci.yaml that is neither replaces-mode nor semver-mode',
  opm: ["The 'updateGraph' option in ci.yaml must be one of ['replaces-mode', 'semver-mode']"],
  operator(operator, report) {
    if (usesCatalogs(operator) || operator.config?.defect) return;
    const mode = settingOf(operator.config, 'updateGraph');
    if (mode === 'replaces-mode' || mode === 'semver-mode') return;
    if (mode === undefined || mode === null || mode === '') return;
    const message = `ci.yaml: found updateGraph ${JSON.stringify(mode)}, expected replaces-mode or semver-mode`;
    const place = operator.config?.locate('updateGraph') ?? settingsPlace(operator);
    report(message, place, { package: operator.name, hint: 'updateGraph: replaces-mode' });
  },
};
