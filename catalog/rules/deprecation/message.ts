import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'deprecation/message',
  severity: 'error',
  summary: 'Reports deprecations without a message for users',
  opm: ['invalid deprecation: message must be set'],
  check(catalog, report) {
    for (const blob of catalog.blobs.deprecations) {
      for (const entry of blob.entries) {
        if (entry.message !== '') continue;
        const what = entry.schema === 'olm.package' ? 'the package' : `${entry.schema} ${quoted(entry.name)}`;
        const message = `deprecations of package ${quoted(blob.package)}: the deprecation of ${what} has no message`;
        const hint = 'message: "1.0 is no longer supported; move to channel stable-2.x"';
        report(message, locate(blob, 'entries', entry.index), { package: blob.package, hint });
      }
    }
  },
};
