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
import { isDnsLabel, isDnsSubdomain } from '../names.ts';
import { InvalidReference, parseReference } from '../reference.ts';
import { parseRelease, parseVersion, VersionError } from '../version/version.ts';

const quoted = goQuoted;

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

/** The first defect of any of the items, in their order. */
function firstDefect<T>(items: Iterable<T>, defect: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = defect(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The package of a name that an `olm.package` blob gave. */
function declaredPackage(catalog: Catalog, name: string): Package | undefined {
  const pkg = catalog.packages.get(name);
  return pkg?.blob ? pkg : undefined;
}

/** The first defect of packages, in opm's words. */
function packageError({ packages }: Blobs): string | undefined {
  const seen = new Set<string>();
  return firstDefect(packages, ({ name }) => {
    if (name === '') return 'config contains package with no name';
    if (seen.has(name)) return `duplicate package ${quoted(name)}`;
    seen.add(name);
    return isDnsLabel(name)
      ? undefined
      : `invalid package name ${quoted(name)}: [${labelDefects(name).join(' ')}]`;
  });
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** What Kubernetes says of a name that is not a DNS label. It counts bytes, and calls them characters. */
function labelDefects(name: string): string[] {
  const bytes = new TextEncoder().encode(name).length;
  const defects = bytes > 63 ? ['must be no more than 63 characters'] : [];
  if (LABEL.test(name)) return defects;
  if (isDnsSubdomain(name)) return [...defects, 'must not contain dots'];
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
  return firstDefect(channels, (channel) => {
    const { name } = channel;
    const pkg = quoted(channel.package);
    if (!declaredPackage(catalog, channel.package))
      return `unknown package ${pkg} for channel ${quoted(name)}`;
    if (name === '') return `package ${pkg} contains channel with no name`;
    const key = JSON.stringify([channel.package, name]);
    if (seen.has(key)) return `package ${pkg} has duplicate channel ${quoted(name)}`;
    seen.add(key);
    const entries = new Set<string>();
    return firstDefect(channel.entries, (entry) => {
      if (entries.has(entry.name)) {
        return `invalid package ${pkg}, channel ${quoted(name)}: duplicate entry ${quoted(entry.name)}`;
      }
      entries.add(entry.name);
      return undefined;
    });
  });
}

/** The first defect of bundles, in opm's words. */
function bundleError({ bundles }: Blobs, catalog: Catalog): string | undefined {
  const seen = new Set<string>();
  return firstDefect(bundles, (bundle) => {
    const { name } = bundle;
    if (bundle.package === '') return `package name must be set for bundle ${quoted(name)}`;
    const pkg = declaredPackage(catalog, bundle.package);
    if (!pkg) return `unknown package ${quoted(bundle.package)} for bundle ${quoted(name)}`;
    const key = JSON.stringify([bundle.package, name]);
    if (seen.has(key)) return `package ${quoted(bundle.package)} has duplicate bundle ${quoted(name)}`;
    seen.add(key);
    const isListed = [...pkg.channels.values()].some(({ entries }) =>
      entries.some((entry) => entry.name === name),
    );
    return (
      propertyError(bundle) ??
      imageError(bundle) ??
      versionError(bundle) ??
      (isListed
        ? undefined
        : `package ${quoted(pkg.name)}, bundle ${quoted(name)} not found in any channel entries`)
    );
  });
}

/** The first defect of a bundle's properties, in opm's words. */
function propertyError(bundle: Bundle): string | undefined {
  const misfit = firstDefect(bundle.properties.entries(), ([i, { type, value }]) => {
    const why = value === undefined ? 'unexpected end of JSON input' : valueMisfit(type, value);
    return why === undefined
      ? undefined
      : `parse properties for bundle ${quoted(bundle.name)}: parse property[${i}] of type ${quoted(type)}: ${why}`;
  });
  if (misfit !== undefined) return misfit;
  const own = bundle.properties.filter(({ type }) => type === 'olm.package');
  const where = `package ${quoted(bundle.package)}`;
  if (own.length !== 1) {
    return `${where} bundle ${quoted(bundle.name)} must have exactly 1 "olm.package" property, found ${own.length}`;
  }
  const name = packageProperty(own[0]?.value).packageName ?? '';
  return name === bundle.package
    ? undefined
    : `${where} does not match "olm.package" property ${quoted(name)}`;
}

/** Why Go cannot decode a property's value; undefined if it can, as null and the values of other types. */
function valueMisfit(type: string, value: unknown): string | undefined {
  const shape = PROPERTY_SHAPES.get(type);
  return shape && value !== null ? fitStruct(value, shape).misfits[0]?.go : undefined;
}

/** The first reference of a bundle's images that opm refuses, in its words. */
function imageError(bundle: Bundle): string | undefined {
  const where = `package ${quoted(bundle.package)} bundle ${quoted(bundle.name)}`;
  const images = [
    [`${where} image`, bundle.image] as const,
    ...bundle.relatedImages.map(({ image }, i) => [`${where} relatedImages[${i}].image`, image] as const),
  ];
  return firstDefect(images, ([what, image]) => {
    const why = image === '' ? undefined : messageThrown(InvalidReference, () => parseReference(image));
    return why === undefined ? undefined : `${what}: invalid image pull spec ${quoted(image)}: ${why}`;
  });
}

/** What opm says of a bundle's version or release. */
function versionError(bundle: Bundle): string | undefined {
  const own = bundle.properties.find(({ type }) => type === 'olm.package')?.value;
  const { version = '', release = '' } = packageProperty(own);
  const why = messageThrown(VersionError, () => parseVersion(version));
  if (why !== undefined)
    return `error parsing bundle ${quoted(bundle.name)} version ${quoted(version)}: ${why}`;
  const whyNot = messageThrown(VersionError, () => parseRelease(release));
  if (whyNot === undefined) return undefined;
  return `error parsing bundle ${quoted(bundle.name)} release version ${quoted(release)}: ${whyNot}`;
}

/** The message of the error that a parser throws; undefined if it throws none. */
function messageThrown(
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
  return firstDefect(
    [...last].sort(([a], [b]) => compareText(a, b)),
    ([name, { entries }]) => {
      const bundles = catalog.packages.get(name)?.bundles;
      const missing = entries.map((entry) => entry.name).filter((entry) => !bundles?.has(entry));
      if (missing.length === 0) return undefined;
      const list = missing.sort(compareText).join(' ');
      return `no olm.bundle blobs found in package ${quoted(name)} for olm.channel entries [${list}]`;
    },
  );
}

/** The first defect of deprecations, in opm's words. */
function deprecationError({ deprecations }: Blobs, catalog: Catalog): string | undefined {
  const seen = new Set<string>();
  return firstDefect(deprecations.entries(), ([i, deprecation]) => {
    const name = deprecation.package;
    if (name === '') return `package name must be set for deprecation item ${i}`;
    const pkg = declaredPackage(catalog, name);
    if (!pkg) return `cannot apply deprecations to an unknown package ${quoted(name)}`;
    if (seen.has(name)) return `expected a maximum of one deprecation per package: ${quoted(name)}`;
    seen.add(name);
    const references = new Set<string>();
    return firstDefect(deprecation.entries, (entry) => {
      if (entry.schema === '') {
        return `schema must be set for deprecation entry [${entry.index}] for package ${quoted(name)}`;
      }
      const reference = `declcfg.PackageScopedReference{Schema:${quoted(entry.schema)}, Name:${quoted(entry.name)}}`;
      if (references.has(reference))
        return `duplicate deprecation entry ${reference} for package ${quoted(name)}`;
      references.add(reference);
      return referenceError(pkg, entry, reference);
    });
  });
}

/** Why an entry of a deprecation names nothing that can be deprecated, in opm's words. */
function referenceError(pkg: Package, entry: DeprecationEntry, reference: string): string | undefined {
  const name = quoted(entry.name);
  const forPackage = `for package ${quoted(pkg.name)}`;
  switch (entry.schema) {
    case 'olm.bundle':
      return pkg.bundles.has(entry.name)
        ? undefined
        : `cannot deprecate bundle ${name} ${forPackage}: bundle not found`;
    case 'olm.channel': {
      // opm makes the default channel where no blob has it.
      const isThere =
        pkg.channels.has(entry.name) || (pkg.defaultChannel !== '' && pkg.defaultChannel === entry.name);
      return isThere ? undefined : `cannot deprecate channel ${name} ${forPackage}: channel not found`;
    }
    case 'olm.package':
      return entry.name === ''
        ? undefined
        : `package name must be empty for deprecated package ${quoted(pkg.name)} (specified ${name})`;
    default:
      return `cannot deprecate object ${reference} referenced by entry ${entry.index} ${forPackage}: object schema unknown`;
  }
}
