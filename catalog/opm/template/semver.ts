/**
 * Semver templates: bundle images by how far they are to be trusted, from which channels and
 * their edges follow by the rules of semantic versions.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/semver/semver.go
 */

import type { Blobs, Bundle, Channel, PackageBlob } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { bytes, fitStruct, isObject, listOf, struct, text } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { compareVersions, formatVersion, tryParseVersion, type Version } from '../../version/version.ts';
import { channelsOf, type GeneratedChannel, type Versions } from './semver-channels.ts';
import { ARCHETYPES, readSemver, type SemverTemplate } from './semver-read.ts';
import {
  type Expand,
  expansion,
  plainBundle,
  type RenderedImage,
  type RenderImage,
  TemplateError,
} from './template.ts';

export const expandSemver: Expand = (source, renderImage) =>
  expansion(async () => {
    const template = readSemver(source);
    const images = await renderAll(template, renderImage);
    const { package: name, versions } = versionsOf(template, images);
    const { channels, defaultChannel } = channelsOf(versions, template);
    const document = newDocument(template.document.locate([]));
    const heads = new Map([...images.values()].map((image) => [image.bundle.name, image]));
    const head = channels.find((channel) => channel.name === defaultChannel)?.entries.at(-1)?.name ?? '';
    const made = [
      newBlob({ schema: 'olm.package', name, defaultChannel, ...metadataOf(heads.get(head)) }, document),
      ...channels.map((channel) => newBlob(channelValue(name, channel), document)),
    ];
    return {
      packages: made.flatMap((one): PackageBlob[] => (one.kind === 'package' ? [one.blob] : [])),
      channels: made.flatMap((one): Channel[] => (one.kind === 'channel' ? [one.blob] : [])),
      bundles: [...images.values()].map(({ bundle }) => bundle),
      deprecations: [],
      others: [],
    } satisfies Blobs;
  });

type Fields = Readonly<Record<string, unknown>>;

function channelValue(name: string, channel: GeneratedChannel): Fields {
  return { schema: 'olm.channel', name: channel.name, package: name, entries: channel.entries };
}

/** Each image once, in byte order of the names. */
async function renderAll(
  template: SemverTemplate,
  renderImage: RenderImage,
): Promise<Map<string, RenderedImage>> {
  const names = new Set(ARCHETYPES.flatMap((archetype) => template.images[archetype]));
  if (names.size === 0)
    throw new TemplateError('the template names no bundles', template.document.locate([]));
  const images = new Map<string, RenderedImage>();
  for (const name of [...names].sort(compareText)) images.set(name, await renderImage(name));
  return images;
}

/** Versions of the bundles of each archetype by bundle name, and the one package that they are of. */
function versionsOf(
  template: SemverTemplate,
  images: ReadonlyMap<string, RenderedImage>,
): { readonly package: string; readonly versions: Versions } {
  let pkg = '';
  const versionsIn = (archetype: (typeof ARCHETYPES)[number]): Map<string, Version> => {
    const versions = new Map<string, Version>();
    for (const [i, image] of template.images[archetype].entries()) {
      const place = template.document.locate([archetype, 'bundles', i, 'image']);
      const bundle = images.get(image)?.bundle;
      if (!bundle) continue;
      const { name, version } = identityOf(plainBundle(bundle), place);
      if (pkg === '') pkg = name;
      else if (name !== pkg) {
        throw new TemplateError(
          `${image} is a bundle of the package ${name}, the others are of ${pkg}`,
          place,
        );
      }
      if (versions.has(bundle.name)) {
        throw new TemplateError(`duplicate bundle ${bundle.name} in ${archetype}`, place, 'remove one');
      }
      checkOrder(versions, version, place);
      versions.set(bundle.name, version);
    }
    return versions;
  };
  const versions = {
    candidate: versionsIn('candidate'),
    fast: versionsIn('fast'),
    stable: versionsIn('stable'),
  };
  return { package: pkg, versions };
}

type Place = ReturnType<SemverTemplate['document']['locate']>;

/** What the one `olm.package` property of a bundle says. */
function identityOf(bundle: Bundle, place: Place): { name: string; version: Version } {
  const own = bundle.properties.filter(({ type }) => type === 'olm.package');
  const value = own[0]?.value;
  const fields: Fields = isObject(value) ? value : {};
  const version = tryParseVersion(String(fields['version'] ?? ''));
  if (own.length !== 1 || !version) {
    throw new TemplateError(
      `the bundle ${bundle.name} has no single olm.package property with a version`,
      place,
    );
  }
  return { name: String(fields['packageName'] ?? ''), version };
}

/** @throws TemplateError for versions that differ only in build metadata: they have no order */
function checkOrder(versions: ReadonlyMap<string, Version>, version: Version, place: Place): void {
  const same = [...versions].find(([, other]) => compareVersions(other, version) === 0);
  if (!same) return;
  const [name, other] = same;
  const message = `the version ${formatVersion(version)} and the ${formatVersion(other)} of ${name} differ only by build metadata, so neither is the newer`;
  throw new TemplateError(message, place, 'give them different versions, or different archetypes');
}

const ICONS = struct('registry.ClusterServiceVersion', {
  icon: listOf(struct('registry.icon', { base64data: bytes, mediatype: text })),
});

/** The package's description and icon are those of the default channel's newest bundle, as far as they are sound. */
function metadataOf(image: RenderedImage | undefined): Fields {
  const spec = image?.csv['spec'];
  if (!isObject(spec)) return {};
  const description = typeof spec['description'] === 'string' ? spec['description'] : '';
  const { value, misfits } = fitStruct({ icon: spec['icon'] }, ICONS);
  const icon: unknown = Array.isArray(value['icon']) && misfits.length === 0 ? value['icon'][0] : undefined;
  return { ...(description === '' ? {} : { description }), ...(isObject(icon) ? { icon } : {}) };
}
