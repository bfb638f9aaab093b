/**
 * Substitutes templates: a catalog, and bundle images that take the places of bundles in its
 * channels.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/substitutes/substitutes.go
 */
import { fieldsOf } from '../../fbc/blob.ts';
import { csvOf } from '../../fbc/cache/bundle.ts';
import type { SourceDocument } from '../../fbc/document.ts';
import type { Blobs, Bundle, Channel, Entry } from '../../fbc/model.ts';
import { newBlob } from '../../fbc/new-blob.ts';
import type { Finding } from '../../finding.ts';
import { isObject, listOf, structShape, text } from '../../go/shape.ts';
import { compareVersionReleases, type VersionRelease } from '../../olm/resolve/release.ts';
import { opmFindings } from '../../rules/opm.ts';
import { parseRelease, parseVersion, VersionError } from '../../version/version.ts';
import { entriesShape, entryBlobs, readTemplate, type Template } from './entries.ts';
import {
  type Expand,
  plainBundle,
  type RenderedImage,
  runExpansion,
  TemplateError,
  type TemplateText,
} from './template.ts';

export const SUBSTITUTES_SCHEMA = 'olm.template.substitutes';

const SHAPE = entriesShape('substitutes.SubstitutesTemplateData', {
  substitutions: listOf(structShape('substitutes.Substitute', { name: text, base: text })),
});

/** A bundle image (`name`) that takes the place of the bundle `base`. */
interface Substitution {
  readonly name: string;
  readonly base: string;
  readonly location: ReturnType<SourceDocument['locate']>;
}

/**
 * Expands a substitutes template as opm does: renders each image, and puts it in the place of the bundle that it
 * substitutes. The first finding ends it.
 */
export const expandSubstitutes: Expand = (source, renderImage) =>
  runExpansion(async (findings) => {
    const template = readSubstitutes(source);
    let blobs = entryBlobs(template, findings);
    if (findings.length > 0) return blobs;
    for (const finding of opmFindings(blobs)) findings.push(finding);
    const substitutions = substitutionsOf(template);
    for (const substitution of substitutions) {
      if (findings.length > 0) return blobs;
      const image = await renderImage(substitution.name);
      checkNewer(blobs, substitution, image);
      blobs = withSubstitute(blobs, substitution, image.bundle);
      const plain = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
      for (const finding of opmFindings(plain)) findings.push(finding);
    }
    return blobs;
  });

/** The blobs of a template, except the images that replace bundles. @throws TemplateError */
export function writtenInSubstitutes(text: TemplateText, findings: Finding[]): Blobs {
  return entryBlobs(readSubstitutes(text), findings);
}

function readSubstitutes(text: TemplateText): Template {
  return readTemplate(text, SUBSTITUTES_SCHEMA, SHAPE);
}

/** The substitutions of a template. @throws TemplateError for one that is incomplete, or uses a name or a base again */
function substitutionsOf({ fields, document }: Template): Substitution[] {
  const list = Array.isArray(fields['substitutions']) ? fields['substitutions'] : [];
  const seen = new Set<string>();
  return list.map((item, i) => {
    const one = isObject(item) ? item : {};
    const [name, base] = [String(one['name'] ?? ''), String(one['base'] ?? '')];
    const location = document.locate(['substitutions', i]);
    if (name === '')
      throw new TemplateError('a substitution has a name: an image', location, 'name: REFERENCE');
    if (base === '') throw new TemplateError('a substitution has a base: a bundle', location, 'base: BUNDLE');
    if (name === base) throw new TemplateError(`the substitution ${name} is its own base`, location);
    for (const used of [`base ${base}`, `image ${name}`]) {
      if (seen.has(used)) throw new TemplateError(`two substitutions use the ${used}`, location);
      seen.add(used);
    }
    return { name, base, location };
  });
}

/**
 * Checks that an image is newer than the bundle whose place it takes.
 *
 * @throws TemplateError
 */
function checkNewer(blobs: Blobs, { name, base, location }: Substitution, image: RenderedImage): void {
  const bundle = blobs.bundles.find((one) => one.name === base);
  if (!bundle) throw new TemplateError(`the catalog has no bundle ${base}`, location);
  const older = releaseOf(plainBundle(bundle), csvOf(bundle), location);
  const newer = releaseOf(plainBundle(image.bundle), image.csv, location);
  if (compareVersionReleases(older, newer) < 0) return;
  throw new TemplateError(`${name} is not newer than ${base}, whose place it is to take`, location);
}

type Fields = Readonly<Record<string, unknown>>;

/** A bundle's version and release. Old bundles, which say what they substitute, have the release in the build metadata. */
function releaseOf(
  bundle: Bundle,
  csv: Fields | undefined,
  location: Substitution['location'],
): VersionRelease {
  const own = bundle.properties.filter(({ type }) => type === 'olm.package');
  const value = own[0]?.value;
  if (own.length !== 1 || !isObject(value)) {
    throw new TemplateError(`the bundle ${bundle.name} must have one olm.package property`, location);
  }
  try {
    const version = parseVersion(String(value['version'] ?? ''));
    const release = parseRelease(String(value['release'] ?? ''));
    const isOld = release.length === 0 && version.build.length > 0 && substitutesFor(bundle, csv) !== '';
    if (!isOld) return { version, release };
    return { version: { ...version, build: [] }, release: parseRelease(version.build.join('.')) };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new TemplateError(`the bundle ${bundle.name}: ${error.message}`, location);
  }
}

/** The bundle that a bundle says it substitutes; the empty text for none. */
function substitutesFor(bundle: Bundle, csv: Fields | undefined): string {
  const metadata = csv
    ? csv['metadata']
    : bundle.properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  const found = isObject(annotations) ? annotations['olm.substitutesFor'] : undefined;
  return typeof found === 'string' ? found : '';
}

/** The catalog with the new bundle, in every channel that has the base. */
function withSubstitute(blobs: Blobs, { base }: Substitution, bundle: Bundle): Blobs {
  const channels = blobs.channels.map((channel) => substitutedChannel(channel, base, bundle.name));
  return { ...blobs, channels, bundles: [...blobs.bundles, bundle] };
}

/**
 * A channel with the new bundle in the place of the base. It takes over the edges of the base, and skips it; who
 * replaced or skipped the base now replaces or skips the new bundle.
 */
function substitutedChannel(channel: Channel, base: string, name: string): Channel {
  const added = channel.entries
    .filter((entry) => entry.name === base)
    .map((entry) => ({ ...entry, name, skips: [...entry.skips, base] }))
    // opm adds them from the last to the first.
    .reverse();
  const entries = channel.entries.map((entry) => {
    const bare = entry.name === base ? { ...entry, replaces: '', skips: [], skipRange: '' } : entry;
    if (bare.replaces === base) return { ...bare, replaces: name, skips: [...bare.skips, base] };
    if (!bare.skips.includes(base)) return bare;
    return { ...bare, skips: [...bare.skips, name].filter((skip) => skip !== base) };
  });
  return withEntries(channel, [...entries, ...added]);
}

/** The channel as a new blob with other entries. */
function withEntries(channel: Channel, entries: readonly Entry[]): Channel {
  const written = entries.map(({ name, replaces, skips, skipRange }) => ({
    name,
    replaces,
    skips,
    skipRange,
  }));
  const made = newBlob({ ...fieldsOf(channel), entries: written }, channel.document);
  return made.kind === 'channel' ? made.blob : channel;
}
