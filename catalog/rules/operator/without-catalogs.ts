import { settingsPlace, usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/without-catalogs',
  severity: 'warning',
  isOptional: true,
  summary: 'Reports an operator without file-based catalogs of its own, which operator-pipelines recommends',
  opm: ['This operator does not use FBC.'],
  operator(operator, report) {
    if (usesCatalogs(operator) || operator.changed.length === 0) return;
    const message = `operator ${quoted(operator.name)} has no file-based catalogs of its own`;
    report(message, settingsPlace(operator), { package: operator.name, hint: 'fbc: {enabled: true}' });
  },
};
