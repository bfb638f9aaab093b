import { locate } from '../../fbc/model.ts';
import { packageProperty } from '../../fbc/property.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/package-property',
  severity: 'error',
  summary: 'Reports bundles without exactly one olm.package property that names their package',
  opm: [
    'package "p" bundle "b" must have exactly 1 "olm.package" property, found N',
    'package "p" does not match "olm.package" property "q"',
  ],
  bundleCheck: () => (bundle, report) => {
    const own = [...bundle.properties.entries()].filter(([, { type }]) => type === 'olm.package');
    const details = { package: bundle.package };
    const [first, second] = own;
    if (!first || second) {
      const message = `bundle ${quoted(bundle.name)} must have exactly one olm.package property, found ${own.length}`;
      const hint = `- {type: olm.package, value: {packageName: ${bundle.package}, version: 1.0.0}}`;
      report(message, second ? locate(bundle, 'properties', second[0]) : locate(bundle, 'properties'), {
        ...details,
        hint,
      });
      return;
    }
    const [i, { value }] = first;
    const { packageName: name } = packageProperty(value);
    if (name === undefined || name === bundle.package) return;
    const message = `bundle ${quoted(bundle.name)} belongs to package ${quoted(bundle.package)}, but its olm.package property names ${quoted(name)}`;
    const location = locate(bundle, 'properties', i, 'value', 'packageName');
    report(message, location, {
      ...details,
      hint: `packageName: ${bundle.package}`,
      correction: { kind: 'replace', location, found: name, wanted: bundle.package },
    });
  },
};
