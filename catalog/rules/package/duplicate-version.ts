import { type Bundle, locate } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/duplicate-version',
  severity: 'error',
  summary: 'Reports bundles of a package that have the same version',
  opm: ['duplicate versions found in bundles: [{1.0.0: [a, b]}]'],
  check(catalog, report) {
    for (const { name, bundles } of catalog.packages.values()) {
      const byVersion = new Map<string, Bundle>();
      for (const bundle of bundles.values()) {
        if (!bundle.version) continue;
        const version = formatVersion(bundle.version) + (bundle.release === '' ? '' : `-${bundle.release}`);
        const other = byVersion.get(version);
        if (!other) {
          byVersion.set(version, bundle);
          continue;
        }
        const message = `package ${quoted(name)}: the bundles ${quoted(other.name)} and ${quoted(bundle.name)} both have version ${version}`;
        const property = bundle.properties.findIndex(({ type }) => type === 'olm.package');
        const location = locate(bundle, 'properties', property, 'value', 'version');
        report(message, location, { package: name, hint: 'give each bundle a different version' });
      }
    }
  },
};
