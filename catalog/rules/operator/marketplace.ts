import { member } from '../../bundle/inspect.ts';
import { packageOf } from '../../bundle/operator-folder.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/marketplace',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an operator of the marketplace without the links to its pages for pricing and support',
  opm: ["CSV marketplace.openshift.io/remote-workflow annotation is set to 'U'. Expected value is V."],
  operator({ name, organization, changed }, report) {
    if (organization !== 'redhat-marketplace') return;
    for (const bundle of changed) {
      const annotations = member(bundle.csv, 'metadata', 'annotations');
      for (const [key, page] of WORKFLOWS) {
        const expected = `https://marketplace.redhat.com/en-us/operators/${packageOf(bundle)}/${page}?utm_source=openshift_console`;
        const found = annotations[key];
        if (found === expected || !bundle.csvFile) continue;
        const state = found === undefined ? 'is missing' : `is ${JSON.stringify(found)}`;
        const message = `bundle ${quoted(bundle.folder)}: the annotation ${key} ${state}`;
        const place = bundle.csvFile.locate('metadata', 'annotations', key);
        report(message, place, { package: name, hint: `${key}: ${expected}` });
      }
    }
  },
};

const WORKFLOWS = [
  ['marketplace.openshift.io/remote-workflow', 'pricing'],
  ['marketplace.openshift.io/support-workflow', 'support'],
] as const;
