import { lifecycleBlobs, schemaDefects } from '../../fbc/lifecycle.ts';
import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'lifecycle/schema',
  severity: 'error',
  summary: 'Reports lifecycle metadata that does not follow its schema',
  check(catalog, report) {
    for (const blob of lifecycleBlobs(catalog)) {
      for (const { path, what, hint } of schemaDefects(blob)) {
        report(`lifecycle metadata of package ${quoted(blob.package)}: ${what}`, locate(blob, ...path), {
          package: blob.package,
          hint,
        });
      }
    }
  },
};
