import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/duplicate',
  severity: 'error',
  summary: 'Reports bundles that are defined more than once in their package',
  opm: ['package "p" has duplicate bundle "b"'],
  check(catalog, report) {
    for (const bundle of catalog.blobs.bundles) {
      const first = catalog.packages.get(bundle.package)?.bundles.get(bundle.name);
      if (!first || first === bundle || bundle.package === '') continue;
      const { file, line } = locate(first);
      const message = `duplicate bundle ${quoted(bundle.name)} in package ${quoted(bundle.package)}, first defined at ${file}:${line}`;
      report(message, locate(bundle, 'name'), { package: bundle.package, hint: 'remove one of the two' });
    }
  },
};
