import { tryReadJson } from '../../go/json.ts';
import { called, ofCsv } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/subscriptions',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a ClusterServiceVersion without a JSON list of the subscriptions that it is valid with',
  opm: ['Value of operators.openshift.io/valid-subscription annotation is missing'],
  inspect: ofCsv((csv, report) => {
    const value = csv.annotations[KEY];
    const defect = value === undefined ? 'is missing' : defectOf(tryReadJson(value));
    if (defect === undefined) return;
    const message = `${called(csv)}: the annotation ${KEY} ${defect}`;
    const hint = `${KEY}: '["OpenShift Container Platform"]'`;
    report(message, csv.at('metadata', 'annotations', KEY), { hint });
  }),
};

const KEY = 'operators.openshift.io/valid-subscription';

function defectOf(list: unknown): string | undefined {
  if (list === undefined) return 'is not JSON';
  if (!Array.isArray(list)) return 'is not a list';
  if (list.length === 0) return 'is an empty list';
  if (list.some((one) => typeof one !== 'string')) return 'is not a list of strings';
  return new Set(list).size < list.length ? 'has a subscription twice' : undefined;
}
