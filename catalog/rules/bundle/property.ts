import { pathText } from '../../fbc/blob.ts';
import { locate } from '../../fbc/model.ts';
import { PROPERTY_SHAPES } from '../../fbc/property.ts';
import { fitStruct, type Misfit } from '../../go/shape.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
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

function misfitsOf(type: string, value: unknown): readonly Misfit[] {
  // Manifests were checked when they were loaded: fbc/bundle-object.
  const shape = type === 'olm.bundle.object' ? undefined : PROPERTY_SHAPES.get(type);
  return shape && value !== null ? fitStruct(value, shape).misfits : [];
}
