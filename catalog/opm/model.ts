/**
 * Blobs put together as opm puts them together before it validates them, and why it will not:
 * the first reason, in opm's words.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/declcfg/declcfg_to_model.go
 */

import {
  type Blobs,
  type Bundle,
  type Catalog,
  type Channel,
  catalogOf,
  type DeprecationEntry,
  type Package,
} from '../fbc/model.ts';
import { PROPERTY_SHAPES, packageProperty } from '../fbc/property.ts';
import { fitStruct } from '../go/shape.ts';
import { compareText, goQuoted } from '../go/text.ts';
import { isDnsLabel } from '../names.ts';
import { InvalidReference, parseReference } from '../reference.ts';
import { parseRelease, parseVersion, VersionError } from '../version/version.ts';

const q = goQuoted;

/**
 * The first reason why opm cannot make its model from these blobs.
 *
 * @returns opm's text of the first thing that is wrong; undefined when the parts fit together
 */
export function conversionError(blobs: Blobs): string | undefined {
  const catalog = catalogOf(blobs);
  return (
    packageError(blobs) ??
    channelError(blobs, catalog) ??
    bundleError(blobs, catalog) ??
    missingBundles(blobs, catalog) ??
    deprecationError(blobs, catalog)
  );
}

function first<T>(items: Iterable<T>, defect: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = defect(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The package of a name that an `olm.package` blob gave. */
function known(catalog: Catalog, name: string): Package | undefined {
  const pkg = catalog.packages.get(name);
  return pkg?.blob ? pkg : undefined;
}

function packageError({ packages }: Blobs): string | undefined {
  const seen = new Set<string>();
  return first(packages, ({ name }) => {
    if (name === '') return 'config contains package with no name';
    if (seen.has(name)) return `duplicate package ${q(name)}`;
    seen.add(name);
    return isDnsLabel(name)
      ? undefined
      : `invalid package name ${q(name)}: [${labelDefects(name).join(' ')}]`;
  });
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function labelDefects(name: string): string[] {
  const bytes = new TextEncoder().encode(name).length;
  const defects = bytes > 63 ? ['must be no more than 63 characters'] : [];
  if (LABEL.test(name)) return defects;
  if (bytes <= 253 && SUBDOMAIN.test(name)) return [...defects, 'must not contain dots'];
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [
    ...defects,
    `${rule} (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
  ];
}

/** The first defect of channels and entries, in opm's words. */
function channelError({ channels }: Blobs, catalog: Catalog): string | undefined {
  const seen = new Set<string>();
  return first(channels, (channel) => {
    const { name } = channel;
    const pkg = q(channel.package);
    if (!known(catalog, channel.package)) return `unknown package ${pkg} for channel ${q(name)}`;
    if (name === '') return `package ${pkg} contains channel with no name`;
    const key = JSON.stringify([channel.package, name]);
    if (seen.has(key)) return `package ${pkg} has duplicate channel ${q(name)}`;
    seen.add(key);
    const entries = new Set<string>();
    return first(channel.entries, (entry) => {
      if (entries.has(entry.name)) {
        return `invalid package ${pkg}, channel ${q(name)}: duplicate entry ${q(entry.name)}`;
      }
      entries.add(entry.name);
      return undefined;
    });
  });
}

/** The first defect of bundles, in opm's words. */
function bundleError({ bundles }: Blobs, catalog: Catalog): string | undefined {
  const seen = new Set<string>();
  return first(bundles, (bundle) => {
    const { name } = bundle;
    if (bundle.package === '') return `package name must be set for bundle ${q(name)}`;
    const pkg = known(catalog, bundle.package);
    if (!pkg) return `unknown package ${q(bundle.package)} for bundle ${q(name)}`;
    const key = JSON.stringify([bundle.package, name]);
    if (seen.has(key)) return `package ${q(bundle.package)} has duplicate bundle ${q(name)}`;
    seen.add(key);
    const isListed = [...pkg.channels.values()].some(({ entries }) =>
      entries.some((entry) => entry.name === name),
    );
    return (
      propertyError(bundle) ??
      imageError(bundle) ??
      versionError(bundle) ??
      (isListed ? undefined : `package ${q(pkg.name)}, bundle ${q(name)} not found in any channel entries`)
    );
  });
}

/** The first defect of a bundle's properties, in opm's words. */
function propertyError(bundle: Bundle): string | undefined {
  const misfit = first(bundle.properties.entries(), ([i, { type, value }]) => {
    const shape = PROPERTY_SHAPES.get(type);
    const why =
      value === undefined
        ? 'unexpected end of JSON input'
        : shape && value !== null
          ? fitStruct(value, shape).misfits[0]?.go
          : undefined;
    return why === undefined
      ? undefined
      : `parse properties for bundle ${q(bundle.name)}: parse property[${i}] of type ${q(type)}: ${why}`;
  });
  if (misfit !== undefined) return misfit;
  const own = bundle.properties.filter(({ type }) => type === 'olm.package');
  const where = `package ${q(bundle.package)}`;
  if (own.length !== 1) {
    return `${where} bundle ${q(bundle.name)} must have exactly 1 "olm.package" property, found ${own.length}`;
  }
  const name = packageProperty(own[0]?.value).packageName ?? '';
  return name === bundle.package ? undefined : `${where} does not match "olm.package" property ${q(name)}`;
}

function imageError(bundle: Bundle): string | undefined {
  const where = `package ${q(bundle.package)} bundle ${q(bundle.name)}`;
  const images = [
    [`${where} image`, bundle.image] as const,
    ...bundle.relatedImages.map(({ image }, i) => [`${where} relatedImages[${i}].image`, image] as const),
  ];
  return first(images, ([what, image]) => {
    const why = image === '' ? undefined : thrown(InvalidReference, () => parseReference(image));
    return why === undefined ? undefined : `${what}: invalid image pull spec ${q(image)}: ${why}`;
  });
}

function versionError(bundle: Bundle): string | undefined {
  const own = bundle.properties.find(({ type }) => type === 'olm.package')?.value;
  const { version = '', release = '' } = packageProperty(own);
  const why = thrown(VersionError, () => parseVersion(version));
  if (why !== undefined) return `error parsing bundle ${q(bundle.name)} version ${q(version)}: ${why}`;
  const whyNot = thrown(VersionError, () => parseRelease(release));
  if (whyNot === undefined) return undefined;
  return `error parsing bundle ${q(bundle.name)} release version ${q(release)}: ${whyNot}`;
}

function thrown(
  kind: typeof VersionError | typeof InvalidReference,
  parse: () => unknown,
): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof kind) return error.message;
    throw error;
  }
}

/** What opm says of entries without a bundle. It looks only at the last channel of each package, in no fixed order. */
function missingBundles({ channels }: Blobs, catalog: Catalog): string | undefined {
  const last = new Map<string, Channel>(channels.map((channel) => [channel.package, channel]));
  return first(
    [...last].sort(([a], [b]) => compareText(a, b)),
    ([name, { entries }]) => {
      const bundles = catalog.packages.get(name)?.bundles;
      const missing = entries.map((entry) => entry.name).filter((entry) => !bundles?.has(entry));
      if (missing.length === 0) return undefined;
      const list = missing.sort(compareText).join(' ');
      return `no olm.bundle blobs found in package ${q(name)} for olm.channel entries [${list}]`;
    },
  );
}

/** The first defect of deprecations, in opm's words. */
function deprecationError({ deprecations }: Blobs, catalog: Catalog): string | undefined {
  const seen = new Set<string>();
  return first(deprecations.entries(), ([i, deprecation]) => {
    const name = deprecation.package;
    if (name === '') return `package name must be set for deprecation item ${i}`;
    const pkg = known(catalog, name);
    if (!pkg) return `cannot apply deprecations to an unknown package ${q(name)}`;
    if (seen.has(name)) return `expected a maximum of one deprecation per package: ${q(name)}`;
    seen.add(name);
    const references = new Set<string>();
    return first(deprecation.entries, (entry) => {
      if (entry.schema === '') {
        return `schema must be set for deprecation entry [${entry.index}] for package ${q(name)}`;
      }
      const reference = `declcfg.PackageScopedReference{Schema:${q(entry.schema)}, Name:${q(entry.name)}}`;
      if (references.has(reference)) return `duplicate deprecation entry ${reference} for package ${q(name)}`;
      references.add(reference);
      return referenceError(pkg, entry, reference);
    });
  });
}

/** Why an entry of a deprecation names nothing that can be deprecated, in opm's words. */
function referenceError(pkg: Package, entry: DeprecationEntry, reference: string): string | undefined {
  const name = q(entry.name);
  const of = `for package ${q(pkg.name)}`;
  switch (entry.schema) {
    case 'olm.bundle':
      return pkg.bundles.has(entry.name)
        ? undefined
        : `cannot deprecate bundle ${name} ${of}: bundle not found`;
    case 'olm.channel': {
      const isThere =
        pkg.channels.has(entry.name) || (pkg.defaultChannel !== '' && pkg.defaultChannel === entry.name);
      return isThere ? undefined : `cannot deprecate channel ${name} ${of}: channel not found`;
    }
    case 'olm.package':
      return entry.name === ''
        ? undefined
        : `package name must be empty for deprecated package ${q(pkg.name)} (specified ${name})`;
    default:
      return `cannot deprecate object ${reference} referenced by entry ${entry.index} ${of}: object schema unknown`;
  }
}
