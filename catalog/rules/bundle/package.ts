import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/package',
  severity: 'error',
  summary: 'Reports bundles that do not name their package',
  opm: ['package name must be set for bundle "b"'],
  bundleCheck: () => (bundle, report) => {
    if (bundle.package !== '') return;
    report(`bundle ${quoted(bundle.name)} does not name its package`, locate(bundle, 'package'), {
      hint: 'package: my-operator',
    });
  },
};
