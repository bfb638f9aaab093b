import { LIFECYCLE } from '../../fbc/lifecycle.ts';
import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'lifecycle/duplicate',
  severity: 'error',
  summary:
    "Reports packages with several blobs of lifecycle metadata, of which OpenShift's console shows none",
  check(catalog, report) {
    const first = new Map<string, string>();
    for (const blob of catalog.blobs.others) {
      if (blob.schema !== LIFECYCLE) continue;
      const { file, line } = locate(blob, 'package');
      const known = first.get(blob.package);
      if (known === undefined) {
        first.set(blob.package, `${file}:${line}`);
        continue;
      }
      const message = `package ${quoted(blob.package)} has lifecycle metadata twice (first at ${known})`;
      report(message, locate(blob, 'package'), { package: blob.package, hint: 'keep one of the blobs' });
    }
  },
};
