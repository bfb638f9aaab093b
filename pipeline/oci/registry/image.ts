/**
 * Manifests and manifest lists, of OCI and of Docker, as data.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/manifest.md
 * @see https://github.com/opencontainers/image-spec/blob/main/image-index.md
 */
import { foldCase } from '../../../catalog/go/shape.ts';
import { parseUniqueJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Manifest, Platform } from '../../ports.ts';
import { isDigest } from '../digest.ts';
import { DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST } from '../media-types.ts';

/** Media types for `Accept`, without Docker's schema 1, which has no config. */
export const MANIFEST_TYPES: readonly string[] = [OCI_INDEX, OCI_MANIFEST, DOCKER_LIST, DOCKER_MANIFEST];

export const LIST_TYPES: ReadonlySet<string> = new Set([OCI_INDEX, DOCKER_LIST]);
const IMAGES: ReadonlySet<string> = new Set([OCI_MANIFEST, DOCKER_MANIFEST]);

export function isManifestType(mediaType: string): boolean {
  return LIST_TYPES.has(mediaType) || IMAGES.has(mediaType);
}

/** Whether a manifest is of Docker's first schema, signed or not. */
export function isSchema1(mediaType: string): boolean {
  return /^application\/vnd\.docker\.distribution\.manifest\.v1\+/.test(mediaType);
}

interface Common {
  readonly mediaType: string;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The manifest that this one is about: it is a referrer of that. */
  readonly subject?: Descriptor;
}

/** One image, for one platform, or an artifact. */
export interface ImageManifest extends Common {
  readonly kind: 'image';
  readonly config: Descriptor;
  /** From the lowest to the topmost. */
  readonly layers: readonly Descriptor[];
}

/** One image for several platforms; OCI calls it an image index. */
export interface ManifestList extends Common {
  readonly kind: 'list';
  readonly manifests: readonly Descriptor[];
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a manifest.
 *
 * @throws PipelineError `bad-answer` when the bytes are none, or tools could read different images in them
 */
export function parseManifest({ bytes, mediaType, digest }: Manifest): ImageManifest | ManifestList {
  const bad = (why: string): PipelineError =>
    new PipelineError('bad-answer', `the manifest ${digest} ${why}`);
  const json = parseObject(bytes, bad);
  refuseFolded(json, bad);
  const ownType = text(json, 'mediaType');
  if (ownType !== undefined && isManifestType(mediaType) && ownType !== mediaType) {
    throw bad(`declares media type ${ownType}, but was sent as ${mediaType}`);
  }
  const common = {
    mediaType,
    ...optional('artifactType', text(json, 'artifactType')),
    ...optional('annotations', textMap(field(json, 'annotations'))),
    ...optional('subject', has(json, 'subject') ? readDescriptor(field(json, 'subject'), bad) : undefined),
  };
  const isList = has(json, 'manifests');
  const isImage = has(json, 'layers') || has(json, 'config');
  // Clients that read it as different types would run different images.
  if (isList && isImage) throw bad('is both an image and a manifest list');
  if (LIST_TYPES.has(mediaType) && !isImage) {
    return { kind: 'list', ...common, manifests: descriptors(field(json, 'manifests') ?? [], bad) };
  }
  if (IMAGES.has(mediaType) && !isList) {
    const config = readDescriptor(field(json, 'config'), bad);
    return { kind: 'image', ...common, config, layers: descriptors(field(json, 'layers') ?? [], bad) };
  }
  if (isSchema1(mediaType))
    throw bad('is a Docker schema 1 manifest: its owner must push the image again, as schema 2 or OCI');
  throw bad(`has an unsupported media type, ${mediaType || 'unknown'}`);
}

/**
 * The media type of a manifest: that of the answer's `header` if it is one of a manifest, else the one in the bytes, else the
 * one that their fields show. Some registries, and files, name none.
 */
export function manifestType(bytes: Uint8Array, header: string): string {
  if (isManifestType(header)) return header;
  try {
    const json = parseObject(bytes, () => new Error());
    const ownType = text(json, 'mediaType');
    if (ownType !== undefined) return ownType;
    if (has(json, 'manifests')) return OCI_INDEX;
    return has(json, 'layers') && has(json, 'config') ? OCI_MANIFEST : header;
  } catch {
    return header;
  }
}

/** Everything that must be there before the manifest may be: blobs, or the manifests of a list. */
export function contentOf(manifest: ImageManifest | ManifestList): readonly Descriptor[] {
  if (manifest.kind === 'list') return manifest.manifests;
  return [manifest.config, ...manifest.layers.filter((layer) => !isElsewhere(layer))];
}

/** The annotation that names the image of a buildkit attestation in the same list. */
const ABOUT = 'vnd.docker.reference.digest';

/**
 * The entries of a manifest list for some platforms, as `os/architecture`: their images, what is about these, and
 * lists and artifacts that name no platform.
 */
export function imagesFor(
  entries: readonly Descriptor[],
  platforms: readonly string[],
): readonly Descriptor[] {
  const isChosen = (one: Descriptor): boolean => platforms.includes(platformText(one));
  const images = new Set(entries.filter(isChosen).map(({ digest }) => digest));
  return entries.filter((one) => {
    const about = one.annotations?.[ABOUT];
    if (about !== undefined) return images.has(about);
    return one.platform === undefined || isChosen(one);
  });
}

/** `os/architecture` of an entry of a list; `any platform` if it names none. */
export function platformText({ platform }: Descriptor): string {
  return platform ? `${platform.os}/${platform.architecture}` : 'any platform';
}

/** Whether a layer stays where its author has it, by its media type: licences forbid to copy such layers. */
export function isElsewhere({ mediaType }: Descriptor): boolean {
  return /\.foreign\.|\.nondistributable\./.test(mediaType);
}

/** The descriptor that names a manifest. */
export function descriptorOf({ mediaType, digest, bytes }: Manifest): Descriptor {
  return { mediaType, digest, size: bytes.length };
}

/** A manifest's entry in a list of referrers: its descriptor, with the type of artifact and the annotations of the manifest. */
export function referrerDescriptor(
  { mediaType, digest, size }: Descriptor,
  parsed: ImageManifest | ManifestList,
): Descriptor {
  // The specification: without a type of its own an image is of the type of its config.
  const artifactType = parsed.artifactType ?? (parsed.kind === 'image' ? parsed.config.mediaType : '');
  return {
    mediaType,
    digest,
    size,
    ...(artifactType === '' ? {} : { artifactType }),
    ...(parsed.annotations === undefined ? {} : { annotations: parsed.annotations }),
  };
}

/** The entries of a list; none of an image. @throws PipelineError as {@link parseManifest} */
export function entriesOf(manifest: Manifest): readonly Descriptor[] {
  const parsed = parseManifest(manifest);
  return parsed.kind === 'list' ? parsed.manifests : [];
}

/** The JSON object in bytes. @throws what `bad` makes of the reason */
function parseObject(bytes: Uint8Array, bad: (why: string) => Error): Json {
  let json: unknown;
  try {
    json = parseUniqueJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw bad(`is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!isObject(json)) throw bad('is not a JSON object');
  return json;
}

/** The fields of manifests, and of descriptors in them, that are read here. */
const FIELDS = [
  ...['mediaType', 'artifactType', 'annotations', 'subject', 'manifests', 'layers', 'config'],
  ...['digest', 'size', 'urls', 'platform', 'os', 'architecture', 'variant', 'os.version'],
];
const FIELD_NAMES: ReadonlyMap<string, string> = new Map(FIELDS.map((name) => [foldCase(name), name]));

/** Refuses fields in another case: tools in Go read them as the field, and others do not. */
function refuseFolded(json: Json, bad: (why: string) => Error): void {
  for (const key of Object.keys(json)) {
    const name = FIELD_NAMES.get(foldCase(key));
    if (name !== undefined && name !== key) throw bad(`has ${JSON.stringify(key)} in place of "${name}"`);
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a field is there. `null` counts as absent, as in Go. */
function has(json: Json, key: string): boolean {
  return Object.hasOwn(json, key) && json[key] !== null;
}

function field(json: Json, key: string): unknown {
  return Object.hasOwn(json, key) ? json[key] : undefined;
}

/** A field as text; undefined if it is empty, as Go reads an absent one, or not a text. */
function text(json: Json, key: string): string | undefined {
  const value = field(json, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The members of an object that are texts; undefined for anything but an object. */
function textMap(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return Object.fromEntries(pairs);
}

/** An object with one field, to be spread into another; an empty one for undefined. */
function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

/** A list of descriptors. @throws what `bad` makes of the reason */
function descriptors(value: unknown, bad: (why: string) => PipelineError): Descriptor[] {
  if (!Array.isArray(value)) throw bad('does not list its content');
  return value.map((item) => readDescriptor(item, bad));
}

/**
 * Reads one descriptor of a manifest or an index.
 *
 * @throws what `bad` makes of the reason when digest or size cannot be used
 */
export function readDescriptor(value: unknown, bad: (why: string) => PipelineError): Descriptor {
  if (!isObject(value)) throw bad('does not describe its content');
  refuseFolded(value, bad);
  const digest = field(value, 'digest');
  const size = field(value, 'size');
  if (!isDigest(digest)) throw bad('references content without a valid digest');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw bad(`references content without a valid size: ${digest}`);
  }
  const urls = field(value, 'urls');
  return {
    mediaType: text(value, 'mediaType') ?? '',
    digest,
    size,
    ...optional('platform', platform(field(value, 'platform'), bad)),
    ...optional('artifactType', text(value, 'artifactType')),
    ...optional('annotations', textMap(field(value, 'annotations'))),
    ...optional(
      'urls',
      Array.isArray(urls) ? urls.filter((url): url is string => typeof url === 'string') : undefined,
    ),
  };
}

/** The platform in a descriptor; undefined if there is none. */
function platform(value: unknown, bad: (why: string) => Error): Platform | undefined {
  if (!isObject(value)) return undefined;
  refuseFolded(value, bad);
  return {
    os: text(value, 'os') ?? '',
    architecture: text(value, 'architecture') ?? '',
    ...optional('variant', text(value, 'variant')),
    ...optional('osVersion', text(value, 'os.version')),
  };
}
