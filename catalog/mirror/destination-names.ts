/**
 * Names of our own: below the destination the host and the path of the source, so that
 * people recognise an image and no two images meet.
 */
import { type Reference, repositoryName } from '../reference.ts';
import { type Destination, digestTag, type ImageRequest, type Naming, type Placement } from './placement.ts';

interface NestedNaming {
  /** Host with its port. */
  readonly registry: string;
  /** Path below the host; may be empty. */
  readonly path: string;
  /** Most components of a destination's path, for registries that allow only so many; 0 for no limit. */
  readonly maxComponents: number;
}

/** Names images below `registry/path`. */
export function nestedNaming(naming: NestedNaming): Naming {
  return { place: (request) => nestedPlacement(request, naming) };
}

/** Where an image goes with nested names: below the mirror's path, its host and repository as folders. */
function nestedPlacement({ role, written, wanted, digest }: ImageRequest, naming: NestedNaming): Placement {
  const name = `${wanted.registry}/${wanted.repository}`;
  const pin = wanted.kind === 'digest' ? wanted.digest : digest;
  const components = [naming.path, hostComponent(wanted.registry), wanted.repository].join('/').split('/');
  return {
    role,
    written,
    wanted,
    source: pin === undefined ? `${name}:${tagOf(wanted)}` : `${name}@${pin}`,
    destination: {
      transport: 'registry',
      registry: naming.registry,
      repository: limitComponents(components.filter(Boolean), naming.maxComponents),
      tag: tagOf(wanted),
    },
  };
}

/** A host as a component of a path, which must be lower case. No host has an underscore, so hosts stay distinct. */
function hostComponent(host: string): string {
  return host.toLowerCase().replace(':', '_');
}

function tagOf(wanted: Reference): string {
  return wanted.kind === 'tag' ? wanted.tag : (wanted.tag ?? digestTag(wanted.digest));
}

/** A path of at most `most` components: what is beyond becomes one, joined by hyphens. */
export function limitComponents(components: readonly string[], most: number): string {
  if (most < 1 || components.length <= most) return components.join('/');
  return [...components.slice(0, most - 1), components.slice(most - 1).join('-')].join('/');
}

// Names as oc-mirror v2 gives them: the source's path below the destination, without its
// host. Where its own parser takes a short name's first part for a host, nodes' rules
// decide.
//
// @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/operator/common.go

interface OcMirrorNaming {
  /** Host with its port. */
  readonly registry: string;
  /** Path below the host; may be empty. */
  readonly path: string;
  /** Most components of a destination's path (`--max-nested-paths`); 0 for no limit. */
  readonly maxComponents: number;
}

/** A repository and a tag below the destination instead of the source's own. */
export interface Target {
  readonly repository?: string;
  readonly tag?: string;
}

/** Names images below `registry/path`; `targets` holds, by reference, what is to be named otherwise. */
export function ocMirrorNaming(naming: OcMirrorNaming, targets: ReadonlyMap<string, Target>): Naming {
  return { place: (request) => placeAsOcMirror(request, naming, targets.get(request.written)) };
}

/** Where oc-mirror puts an image; a reason, in words, if oc-mirror cannot copy it. */
function placeAsOcMirror(
  request: ImageRequest,
  naming: OcMirrorNaming,
  target: Target = {},
): Placement | string {
  const { role, written, wanted, digest } = request;
  // The tag is the default one, which oc-mirror does not add.
  if (wanted.kind === 'tag' && !written.endsWith(`:${wanted.tag}`)) return 'has neither a tag nor a digest';
  const pin = wanted.kind === 'digest' ? wanted.digest : digest;
  const name = nameOf(written);
  // A name of one part that looks like a host is read as one.
  const isHost = !name.includes('/') && /[.]|^localhost/.test(name);
  const full = isHost ? repositoryName(wanted) : name;
  return {
    role,
    written,
    wanted,
    source: full + (pin === undefined ? written.slice(name.length) : `@${pin}`),
    destination: destinationOf(wanted, naming, target),
  };
}

/**
 * The place below the destination that oc-mirror gives an image: the one asked for, or that of its own repository and
 * tag.
 */
function destinationOf(wanted: Reference, naming: OcMirrorNaming, target: Target): Destination {
  const path = [naming.path, target.repository ?? wanted.repository].filter((part) => part !== '').join('/');
  return {
    transport: 'registry',
    registry: naming.registry,
    repository: limitComponents(path.split('/'), naming.maxComponents),
    tag: target.tag ?? ocMirrorTag(wanted),
  };
}

/** The tag that oc-mirror gives an image: its own, or one made of its digest. */
function ocMirrorTag(wanted: Reference): string {
  if (wanted.kind === 'tag') return wanted.tag;
  const ofDigest = wanted.digest.replace(':', '-');
  return wanted.tag ?? (ofDigest.length > MAX_TAG ? ofDigest.slice(0, MAX_TAG - 1) : ofDigest);
}

/** Characters that a tag may have. oc-mirror cuts longer ones, those of sha512, to one less. */
const MAX_TAG = 128;

/** The reference without tag and digest. */
function nameOf(written: string): string {
  const name = written.split('@', 1)[0] ?? '';
  const colon = name.lastIndexOf(':');
  return colon > name.indexOf('/') ? name.slice(0, colon) : name;
}
