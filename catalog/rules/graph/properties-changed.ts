import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Property } from '../../fbc/model.ts';
import { sameBundle, sameValue } from '../../fbc/same-bundle.ts';
import { isObject } from '../../go/shape.ts';
import { grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';
import { DECISIVE, differs } from './bundle-mutated.ts';

/** graph/bundle-mutated reports changes that affect upgrades. */
export const rule: Rule = {
  id: 'graph/properties-changed',
  severity: 'warning',
  summary:
    'Reports properties and images of published bundles that change although the bundle image does not',
  reads: ['history'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      const changed = [...(change.after.catalog.packages.get(name)?.bundles.values() ?? [])].flatMap(
        (bundle) => {
          const before = was?.get(bundle.name);
          if (!before || before.image !== bundle.image || sameBundle(before, bundle)) return [];
          const gone = missingFrom(bundle, before);
          const images = imagesText(gone, missingFrom(before, bundle));
          const text = [...propertiesText(before, bundle), ...images].join(', and ');
          const isPublished = change.before.isPublished({ package: name, bundle: bundle.name });
          return text === '' || !isPublished ? [] : [{ bundle, text, harm: harmOf(before, bundle, gone) }];
        },
      );
      for (const group of grouped(changed, ({ text }) => text)) {
        const [first] = group;
        if (!first) continue;
        const names = listed(group.map(({ bundle }) => quoted(bundle.name)));
        const { bundle, text, harm } = first;
        const message = `${group.length === 1 ? `bundle ${names} is` : `the bundles ${names} are`} published, and the image is the same, but ${text}`;
        report(message, locate(bundle, text.startsWith('properties') ? 'properties' : 'relatedImages'), {
          package: name,
          installed: group.map((one) => shortName(one.bundle)),
          severity: harm === undefined ? 'info' : 'warning',
          hint:
            harm ??
            'the catalog would no longer match the bundle that clusters install: render the properties from the image',
        });
      }
    }
  },
};

/** How the manifests of a bundle may be written. */
const FORMATS = ['olm.csv.metadata', 'olm.bundle.object'];

/** What somebody loses by the change, as a hint; undefined for nobody. */
function harmOf(before: Bundle, after: Bundle, gone: readonly string[]): string | undefined {
  if (formatsOf(before) !== '' && formatsOf(after) === '')
    return 'render the bundles with their metadata: OLM v0 makes PackageManifests of it, and the console lists those';
  if (gone.length > 0)
    return 'the bundle still uses the images that its manifests name, and mirrors would no longer copy them: render relatedImages from the image';
  return undefined;
}

/** The images that a bundle has and another lacks, other than the bundle's own. */
function missingFrom(other: Bundle, { image: own, relatedImages }: Bundle): string[] {
  const there = new Set(other.relatedImages.map(({ image }) => image));
  return [...new Set(relatedImages.map(({ image }) => image))].filter(
    (image) => image !== '' && image !== own && !there.has(image),
  );
}

/** What changes in the related images, in words; none if nothing does. */
function imagesText(gone: readonly string[], added: readonly string[]): string[] {
  const parts = [
    ...(gone.length > 0 ? [`${listed(gone)} ${gone.length === 1 ? 'is' : 'are'} gone`] : []),
    ...(added.length > 0 ? [`${listed(added)} ${added.length === 1 ? 'is' : 'are'} new`] : []),
  ];
  return parts.length > 0 ? [`relatedImages change: ${parts.join(', ')}`] : [];
}

/** The properties that differ, with their fields where they have any; empty for none. */
function propertiesText(before: Bundle, after: Bundle): string[] {
  const ignored = isOnlyReformatted(before, after)
    ? [...FORMATS, ...DECISIVE, 'olm.package']
    : [...DECISIVE, 'olm.package'];
  const types = [...new Set([...before.properties, ...after.properties].map(({ type }) => type))];
  const changed = types
    .filter((type) => !ignored.includes(type) && differs(before.properties, after.properties, type))
    .map((type) => typeText(type, before.properties, after.properties));
  return changed.length > 0 ? [`properties change: ${changed.join(', ')}`] : [];
}

/** Whether the same manifests are only written in the other format, as catalogs of later versions do. */
function isOnlyReformatted(before: Bundle, after: Bundle): boolean {
  const [was, is] = [formatsOf(before), formatsOf(after)];
  return was !== is && is !== '';
}

function formatsOf({ properties }: Bundle): string {
  return FORMATS.filter((format) => properties.some(({ type }) => type === format)).join();
}

/** A property's type, with the fields that differ if both bundles have one property of this type. */
function typeText(type: string, before: readonly Property[], after: readonly Property[]): string {
  const [was, is] = [before, after].map((properties) =>
    properties.filter((property) => property.type === type),
  );
  const [a, b] = [was?.[0]?.value, is?.[0]?.value];
  if (was?.length !== 1 || is?.length !== 1 || !isObject(a) || !isObject(b)) return type;
  const fields = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((key) => !sameValue(a[key], b[key]))
    .sort();
  return `${type} (${listed(fields)})`;
}
