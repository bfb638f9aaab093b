import { REQUIRED_FEATURES } from '../bundle-checks/console.ts';
import { called, ofCsv } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/features',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a feature annotation that the release policy requires and that is missing, or not true or false',
  opm: ['The annotation "A" is either missing or has an unexpected value'],
  inspect: ofCsv((csv, report) => {
    for (const name of REQUIRED_FEATURES) {
      const key = `features.operators.openshift.io/${name}`;
      const value = csv.annotations[key];
      if (value === 'true' || value === 'false') continue;
      const found = value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`;
      const message = `${called(csv)}: the annotation ${key} ${found}, expected "true" or "false"`;
      report(message, csv.at('metadata', 'annotations', key), { hint: `${key}: "false"` });
    }
  }),
};
