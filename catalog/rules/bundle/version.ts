import { locate } from '../../fbc/model.ts';
import { packageProperty } from '../../fbc/property.ts';
import { isObject } from '../../go/shape.ts';
import { parseRelease, parseVersion, VersionError } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/version',
  severity: 'error',
  summary:
    'Reports versions that are not semantic, and releases that are not lists of identifiers of at most 20 characters',
  opm: ['error parsing bundle "b" version "v": …', 'error parsing bundle "b" release version "r": …'],
  bundleCheck: () => (bundle, report) => {
    const i = bundle.properties.findIndex(({ type }) => type === 'olm.package');
    const value = bundle.properties[i]?.value;
    if (value !== null && !isObject(value)) return;
    const { version } = packageProperty(value);
    const defect = version === undefined ? undefined : defectOf(() => parseVersion(version));
    if (defect !== undefined) {
      const message = `bundle ${quoted(bundle.name)}: ${quoted(version ?? '')} is not a valid semantic version: ${defect}`;
      const location = locate(bundle, 'properties', i, 'value', 'version');
      report(message, location, { package: bundle.package, hint: 'version: 1.2.3' });
    }
    const releaseDefect = defectOf(() => parseRelease(bundle.release));
    if (releaseDefect !== undefined) {
      const message = `bundle ${quoted(bundle.name)}: ${quoted(bundle.release)} is not a valid release: ${releaseDefect}`;
      const location = locate(bundle, 'properties', i, 'value', 'release');
      report(message, location, { package: bundle.package, hint: 'release: "1"' });
    }
  },
};

function defectOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof VersionError) return error.message.replaceAll('\n', '; ');
    throw error;
  }
}
