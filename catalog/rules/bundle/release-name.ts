import { locate } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/release-name',
  severity: 'error',
  summary: 'Reports bundles with a release that are not named <package>-v<version>-<release>',
  opm: ['name "x" does not match normalized name "<package>-v<version>-<release>"'],
  bundleCheck: () => (bundle, report) => {
    if (!bundle.version || bundle.release === '') return;
    const expected = `${bundle.package}-v${formatVersion(bundle.version)}-${bundle.release}`;
    if (bundle.name === expected) return;
    const message = `bundle ${quoted(bundle.name)} has release ${quoted(bundle.release)}, so its name must be ${quoted(expected)}`;
    report(message, locate(bundle, 'name'), { package: bundle.package, hint: `name: ${expected}` });
  },
};
