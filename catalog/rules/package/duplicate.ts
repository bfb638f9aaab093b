import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/duplicate',
  severity: 'error',
  summary: 'Reports packages that are defined more than once in a catalog',
  opm: ['duplicate package "p"'],
  check(catalog, report) {
    for (const blob of catalog.blobs.packages) {
      const first = catalog.packages.get(blob.name)?.blob;
      if (!first || first === blob || blob.name === '') continue;
      const { file, line } = locate(first);
      const message = `duplicate package ${quoted(blob.name)}, first defined at ${file}:${line}`;
      report(message, locate(blob, 'name'), { package: blob.name, hint: 'keep one olm.package blob' });
    }
  },
};
