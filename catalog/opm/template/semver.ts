/**
 * Semver templates: bundle images by how far they are to be trusted, from which channels and
 * their edges follow by the rules of semantic versions.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/template/semver/semver.go
 */
import type { Blobs, Bundle, Channel, PackageBlob } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { bytes, fitStruct, isObject, listOf, structShape, text } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import {
  compareVersions,
  formatVersion,
  parseVersion,
  tryParseVersion,
  type Version,
} from '../../version/version.ts';
import {
  ARCHETYPES,
  type Archetype,
  type ChannelKind,
  readSemver,
  type SemverTemplate,
} from './semver-read.ts';
import {
  type Expand,
  plainBundle,
  type RenderedImage,
  type RenderImage,
  runExpansion,
  TemplateError,
} from './template.ts';

/** Expands a semver template as opm does: renders each image, and makes channels from their versions. */
export const expandSemver: Expand = (source, renderImage) =>
  runExpansion(async () => {
    const template = readSemver(source);
    const images = await renderAll(template, renderImage);
    const { package: name, versions } = versionsOf(template, images);
    const { channels, defaultChannel } = channelsOf(versions, template);
    const document = newDocument(template.document.locate([]));
    const byBundleName = new Map([...images.values()].map((image) => [image.bundle.name, image]));
    const head = channels.find((channel) => channel.name === defaultChannel)?.entries.at(-1)?.name ?? '';
    const made = [
      newBlob(
        { schema: 'olm.package', name, defaultChannel, ...metadataOf(byBundleName.get(head)) },
        document,
      ),
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

/** What the one `olm.package` property of a bundle says. A missing package name is an empty one, which rules refuse. */
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

/**
 * Checks that a version can be ordered among others.
 *
 * @throws TemplateError for versions that differ only in build metadata: they have no order
 */
function checkOrder(versions: ReadonlyMap<string, Version>, version: Version, place: Place): void {
  const same = [...versions].find(([, other]) => compareVersions(other, version) === 0);
  if (!same) return;
  const [name, other] = same;
  const message = `the version ${formatVersion(version)} and the ${formatVersion(other)} of ${name} differ only by build metadata, so neither is the newer`;
  throw new TemplateError(message, place, 'give them different versions, or different archetypes');
}

const ICONS = structShape('registry.ClusterServiceVersion', {
  icon: listOf(structShape('registry.icon', { base64data: bytes, mediatype: text })),
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

// Channels and edges that follow from versions: a minor version's last patch replaces the last
// patch of the minor version before, and skips every other entry of its major version so far.

/** Versions by bundle name. */
type Versions = Readonly<Record<Archetype, ReadonlyMap<string, Version>>>;

interface GeneratedChannel {
  readonly name: string;
  readonly entries: readonly GeneratedEntry[];
}

interface GeneratedEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
}

/** The place of a bundle in one generated channel. */
interface Seat {
  readonly archetype: Archetype;
  readonly kind: ChannelKind;
  readonly channel: string;
  readonly name: string;
  readonly version: Version;
}

type Options = Pick<SemverTemplate, 'kinds' | 'preference'>;

/** The generated channels by name, and the default channel. */
export function channelsOf(
  versions: Versions,
  options: Options,
): { readonly channels: readonly GeneratedChannel[]; readonly defaultChannel: string } {
  const seats = ARCHETYPES.flatMap((archetype) => seatsOf(archetype, versions[archetype], options));
  const edges = edgesOf(seats);
  const entries = new Map<string, GeneratedEntry[]>();
  const chosen = new DefaultChannel(options);
  for (const seat of seats) {
    if (!entries.has(seat.channel)) chosen.consider(seat);
    entries.set(seat.channel, [
      ...(entries.get(seat.channel) ?? []),
      { name: seat.name, ...edges.get(seat) },
    ]);
  }
  const channels = [...entries]
    .map(([name, list]) => ({ name, entries: list }))
    .sort((a, b) => compareText(a.name, b.name));
  return { channels, defaultChannel: chosen.name };
}

/** The places of an archetype's bundles, such as `stable-v1` and `stable-v1.2`: by kind of channel, and by version in each. */
function seatsOf(archetype: Archetype, versions: ReadonlyMap<string, Version>, { kinds }: Options): Seat[] {
  const ascending = [...versions].sort(([, a], [, b]) => compareVersions(a, b));
  return kinds.flatMap((kind) =>
    ascending.map(([name, version]) => {
      const minor = kind === 'minor' ? `.${version.minor}` : '';
      return { archetype, kind, channel: `${archetype}-v${version.major}${minor}`, name, version };
    }),
  );
}

/** Finds the default channel: it is chosen when channels begin, by the version that each begins with. */
class DefaultChannel {
  readonly #preference: ChannelKind;
  #archetype: Archetype = 'candidate';
  #kind: ChannelKind | undefined;
  #version = parseVersion('0.0.0');
  /** Name of the default channel so far; empty before the first one. */
  name = '';

  constructor({ preference }: Options) {
    this.#preference = preference;
  }

  /** Makes the channel that begins with a seat the default, if it is better than the one before. */
  consider(seat: Seat): void {
    if (!this.#isBetter(seat)) return;
    this.#archetype = seat.archetype;
    this.#kind = seat.kind;
    this.#version = seat.version;
    this.name = seat.channel;
  }

  /** Whether a channel is better: by its archetype, then by the version that it begins with, then by its kind. */
  #isBetter({ archetype, kind, version }: Seat): boolean {
    const rank = ARCHETYPES.indexOf(archetype) - ARCHETYPES.indexOf(this.#archetype);
    if (rank !== 0) return rank > 0;
    const order = compareVersions(version, this.#version);
    if (order !== 0) return order > 0;
    if (kind === this.#kind) return false;
    // There are two kinds, and the preference is one of them.
    return kind === this.#preference || this.#kind === undefined;
  }
}

type Edges = Pick<GeneratedEntry, 'replaces' | 'skips'>;

/**
 * Edges of the seats that have any: of the last patch of each minor version. It replaces the one of the minor version
 * before, and skips every other entry of its major version so far. Seats come by archetype, kind and version.
 */
function edgesOf(seats: readonly Seat[]): Map<Seat, Edges> {
  const edges = new Map<Seat, Edges>();
  let replaces = '';
  let belowInMajor: string[] = [];
  for (const [i, seat] of seats.entries()) {
    const next = seats[i + 1];
    const endsMajor = !next || startsMajor(seat, next);
    const endsMinor = endsMajor || compareParts(seat.version.minor, next.version.minor) !== 0;
    if (endsMinor) {
      const skips = belowInMajor.filter((name) => name !== replaces).sort(compareText);
      edges.set(seat, {
        ...(replaces === '' ? {} : { replaces }),
        ...(skips.length === 0 ? {} : { skips }),
      });
    }
    belowInMajor = endsMajor ? [] : [...belowInMajor, seat.name];
    if (endsMinor) replaces = endsMajor ? '' : seat.name;
  }
  return edges;
}

/** Whether the next seat is not in the same major version: the edges end there. */
function startsMajor(seat: Seat, next: Seat): boolean {
  const isOther = next.archetype !== seat.archetype || next.kind !== seat.kind;
  return isOther || compareParts(seat.version.major, next.version.major) !== 0;
}

function compareParts(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
