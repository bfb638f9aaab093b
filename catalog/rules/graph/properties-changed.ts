import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Property } from '../../fbc/model.ts';
import { sameBundle } from '../../fbc/same-bundle.ts';
import { isObject } from '../../go/shape.ts';
import { grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';
import { DECISIVE, differs } from './bundle-mutated.ts';

/** graph/bundle-mutated reports changes that affect upgrades. */
export const rule: Rule = {
  id: 'graph/properties-changed',
  severity: 'warning',
  summary: 'Reports properties of published bundles that change although the image does not',
  reads: ['history'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      const changed = [...(change.after.catalog.packages.get(name)?.bundles.values() ?? [])].flatMap(
        (bundle) => {
          const before = was?.get(bundle.name);
          const text = changeText(before, bundle);
          const isPublished = change.before.isPublished({ package: name, bundle: bundle.name });
          const isStripped = before !== undefined && formatsOf(before) !== '' && formatsOf(bundle) === '';
          return text === '' || !isPublished ? [] : [{ bundle, text, isStripped }];
        },
      );
      for (const group of grouped(changed, ({ text }) => text)) {
        const [first] = group;
        if (!first) continue;
        const names = listed(group.map(({ bundle }) => quoted(bundle.name)));
        const message = `${group.length === 1 ? `bundle ${names} is` : `the bundles ${names} are`} published, and the image is the same, but properties change: ${first.text}`;
        report(message, locate(first.bundle, 'properties'), {
          package: name,
          installed: group.map(({ bundle }) => shortName(bundle)),
          severity: first.isStripped ? 'warning' : 'info',
          hint: first.isStripped
            ? 'render the bundles with their metadata: OLM v0 makes PackageManifests of it, and the console lists those'
            : 'the catalog would no longer match the bundle that clusters install: render the properties from the image',
        });
      }
    }
  },
};

/** How the manifests of a bundle may be written. */
const FORMATS = ['olm.csv.metadata', 'olm.bundle.object'];

/** The properties that differ, with their fields where they have any; empty for none. */
function changeText(before: Bundle | undefined, after: Bundle): string {
  if (!before || before.image !== after.image || sameBundle(before, after)) return '';
  const ignored = isRetold(before, after)
    ? [...FORMATS, ...DECISIVE, 'olm.package']
    : [...DECISIVE, 'olm.package'];
  const types = [...new Set([...before.properties, ...after.properties].map(({ type }) => type))];
  return types
    .filter((type) => !ignored.includes(type) && differs(before.properties, after.properties, type))
    .map((type) => typeText(type, before.properties, after.properties))
    .join(', ');
}

/** Whether the same manifests are only written in the other format, as catalogs of later versions do. */
function isRetold(before: Bundle, after: Bundle): boolean {
  const [was, is] = [formatsOf(before), formatsOf(after)];
  return was !== is && is !== '';
}

function formatsOf({ properties }: Bundle): string {
  return FORMATS.filter((format) => properties.some(({ type }) => type === format)).join();
}

function typeText(type: string, before: readonly Property[], after: readonly Property[]): string {
  const [was, is] = [before, after].map((properties) =>
    properties.filter((property) => property.type === type),
  );
  const [a, b] = [was?.[0]?.value, is?.[0]?.value];
  if (was?.length !== 1 || is?.length !== 1 || !isObject(a) || !isObject(b)) return type;
  const fields = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((key) => JSON.stringify(a[key]) !== JSON.stringify(b[key]))
    .sort();
  return `${type} (${listed(fields)})`;
}
