import { locate } from '../../fbc/model.ts';
import { isDnsLabel } from '../../names.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/name',
  severity: 'error',
  summary:
    'Reports package names that are not a DNS label: lower-case letters, digits and dashes, at most 63 characters',
  opm: ['config contains package with no name', 'invalid package name "p": […]'],
  check(catalog, report) {
    for (const blob of catalog.blobs.packages) {
      if (blob.name === '') {
        report('the package has no name', locate(blob, 'name'), { hint: 'name: my-operator' });
      } else if (!isDnsLabel(blob.name)) {
        const message = `package ${quoted(blob.name)}: the name must be a DNS label (a-z, 0-9 and -, at most 63 characters, a letter or digit at both ends)`;
        report(message, locate(blob, 'name'), { package: blob.name, hint: `name: ${dnsLabelOf(blob.name)}` });
      }
    }
  },
};

/** The nearest DNS label. */
function dnsLabelOf(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 63);
  return label.replaceAll(/^-+|-+$/g, '') || 'my-operator';
}
