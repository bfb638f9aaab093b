import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/build-metadata',
  severity: 'error',
  summary: 'Reports bundles with a release that also have build metadata in their version',
  opm: ['cannot use build metadata in version with a release version'],
  bundleCheck: () => (bundle, report) => {
    if (!bundle.version || bundle.version.build.length === 0 || bundle.release === '') return;
    const i = bundle.properties.findIndex(({ type }) => type === 'olm.package');
    const message = `bundle ${quoted(bundle.name)} has both build metadata (+${bundle.version.build.join('.')}) and a release (${bundle.release})`;
    const location = locate(bundle, 'properties', i, 'value', 'version');
    report(message, location, {
      package: bundle.package,
      hint: 'keep the release, and remove the + and everything after it from the version',
    });
  },
};
