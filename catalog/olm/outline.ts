/**
 * What a catalog's other packages need to know of one: its channels and edges, and what its bundles offer and
 * require. Manifests and related images are left out, so that whole catalogs fit into memory beside the packages that
 * somebody changes.
 */
import { keepPlaces } from '../fbc/document.ts';
import { LIFECYCLE } from '../fbc/lifecycle.ts';
import type { EachBlob } from '../fbc/load.ts';
import type { Blob, Bundle, Channel, Deprecations, PackageBlob, Property } from '../fbc/model.ts';
import { ownText } from '../go/text.ts';
import { parseJson } from '../json.ts';
import { formatVersion, parseVersion } from '../version/version.ts';
import { REQUIRING } from './resolve/requirement.ts';

/** Reads blobs as outlines; nothing of the text that they were read from is kept. */
export const OUTLINE: Required<EachBlob> = {
  package: (blob) => ({ ...outlineBlob(blob), ...packageFields(blob) }),
  channel: outlineChannel,
  bundle: outlineBundle,
  deprecations: (deprecations): Deprecations => ({
    ...outlineBlob(deprecations),
    entries: ownValue(deprecations.entries),
  }),
  // How long the next platform's catalog supports a version is asked of packages that somebody changes.
  other: (blob) =>
    blob.schema === LIFECYCLE ? { ...outlineBlob(blob), value: ownValue(blob.value) } : outlineBlob(blob),
};

const NOTHING = {};
const NONE: readonly never[] = [];

/** Properties that hold manifests, which no other package asks for. */
const MANIFESTS: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/** A blob without its value. The texts are copies: a part of a file's text keeps the whole file in memory. */
function outlineBlob(blob: Blob): Blob {
  return {
    schema: ownText(blob.schema),
    package: ownText(blob.package),
    name: ownText(blob.name),
    value: NOTHING,
    document: keepPlaces(blob.document, []),
  };
}

function packageFields({ defaultChannel }: PackageBlob): Omit<PackageBlob, keyof Blob | 'icon'> {
  return { defaultChannel: ownText(defaultChannel), description: '', properties: NONE };
}

function outlineChannel(channel: Channel): Channel {
  return { ...outlineBlob(channel), entries: ownValue(channel.entries), properties: NONE };
}

/** A bundle without manifests and related images, with texts of its own. */
function outlineBundle(bundle: Bundle): Bundle {
  const { properties, version } = bundle;
  const required = properties.flatMap(({ type }, i) => (REQUIRING.has(type) ? [['properties', i]] : []));
  return {
    ...outlineBlob(bundle),
    document: keepPlaces(bundle.document, required),
    image: ownText(bundle.image),
    // Positions stay as they are written.
    properties: properties.map((property) => (MANIFESTS.has(property.type) ? LEFT_OUT : ownValue(property))),
    relatedImages: NONE,
    // Parsed from a copy: a part of the text would keep all of it in memory.
    version: version && parseVersion(ownText(formatVersion(version))),
    release: ownText(bundle.release),
  };
}

const LEFT_OUT: Property = { type: '', value: null };

/** Whether an outline lacks manifests that the bundle has. */
export function lacksManifests({ properties }: Bundle): boolean {
  return properties.includes(LEFT_OUT);
}

/** A copy that shares no text with what it was read from. */
function ownValue<T>(value: T): T {
  return parseJson(JSON.stringify(value)) as T;
}
