import { pathText } from '../../fbc/blob.ts';
import { locate } from '../../fbc/model.ts';
import { PROPERTY_SHAPES, packageProperty } from '../../fbc/property.ts';
import { fitStruct, isObject, type Misfit } from '../../go/shape.ts';
import { parseRelease, parseVersion, VersionError } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const ownProperty: Rule = {
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

export const property: Rule = {
  id: 'bundle/property',
  severity: 'error',
  summary:
    'Reports properties of bundles without a value, or with a value of a type that OLM does not expect',
  fix: 'use a value of the expected type',
  opm: ['parse properties for bundle "b": parse property[i] of type "t": …'],
  bundleCheck: () => (bundle, report) => {
    for (const [i, { type, value }] of bundle.properties.entries()) {
      const where = (): string =>
        `bundle ${quoted(bundle.name)}: property ${quoted(type)} at properties[${i}]`;
      if (value === undefined) {
        report(`${where()} has no value`, locate(bundle, 'properties', i), {
          package: bundle.package,
          hint: 'value: {}',
        });
        continue;
      }
      for (const misfit of misfitsOf(type, value)) {
        const path = misfit.path.length === 0 ? 'value' : `value.${pathText(misfit.path)}`;
        const location = locate(bundle, 'properties', i, 'value', ...misfit.path);
        report(`${where()}: ${path} must be ${misfit.expected}, found ${misfit.found}`, location, {
          package: bundle.package,
        });
      }
    }
  },
};

export const version: Rule = {
  id: 'bundle/version',
  severity: 'error',
  summary:
    'Reports versions that are not semantic, and releases that are not lists of identifiers of at most 20 characters',
  opm: ['error parsing bundle "b" version "v": …', 'error parsing bundle "b" release version "r": …'],
  bundleCheck: () => (bundle, report) => {
    const i = bundle.properties.findIndex(({ type }) => type === 'olm.package');
    const value = bundle.properties[i]?.value;
    // bundle/property reports values of other types.
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

export const rules: readonly Rule[] = [ownProperty, property, version];

/** Where a property does not fit its type; nothing for a type that nobody knows, and for null. */
function misfitsOf(type: string, value: unknown): readonly Misfit[] {
  // Manifests were checked when they were loaded: fbc/bundle-object.
  const shape = type === 'olm.bundle.object' ? undefined : PROPERTY_SHAPES.get(type);
  return shape && value !== null ? fitStruct(value, shape).misfits : [];
}

/** Why a version or range cannot be parsed; undefined if it can. */
function defectOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof VersionError) return error.message.replaceAll('\n', '; ');
    throw error;
  }
}
