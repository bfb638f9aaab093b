import { settingOf } from '../operator-checks/settings.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/graph-unused',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an updateGraph in ci.yaml of an operator that has file-based catalogs of its own',
  opm: ['FBC is enabled, updateGraph cannot be defined.'],
  operator({ name, config }, report) {
    const mode = settingOf(config, 'updateGraph');
    if (settingOf(config, 'fbc', 'enabled') !== true || mode === undefined || mode === null) return;
    const message =
      'ci.yaml has both fbc.enabled: true and updateGraph, which only bundles without catalogs use';
    const place = config?.locate('updateGraph');
    if (place) report(message, place, { package: name, hint: 'remove updateGraph' });
  },
};
