/**
 * Names as `oc adm catalog mirror` gives them: its own grammar of references, hashes as
 * tags, paths cut to a number of components.
 *
 * @see https://github.com/openshift/oc/blob/master/pkg/cli/admin/catalog/mirrorer.go
 */

import { fnvHash } from '../go/fnv.ts';
import { DIGEST_LENGTHS, DOCKER_HUB_HOSTS, InvalidReference, REFERENCE } from '../reference.ts';
import type { Destination, ImageRequest, Naming, Placement } from './placement.ts';

/** A reference split as oc splits it: nothing is written out that the text leaves out. */
export interface OcReference {
  readonly transport: 'registry' | 'file' | 's3';
  readonly registry: string;
  /** The first part of the path where it has several. */
  readonly namespace: string;
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
}

/** Characters of a name, host included, in Docker's grammar. */
const MAX_NAME = 255;

/**
 * Reads a reference by oc's rules, `file://` and `s3://` included.
 *
 * @throws InvalidReference with oc's message
 */
export function parseOcReference(text: string): OcReference {
  const { transport, rest } = splitTransport(text);
  const match = REFERENCE.exec(rest);
  const path = match?.[1];
  if (!match || path === undefined) throw new InvalidReference(whyNot(rest));
  if (path.length > MAX_NAME) {
    throw new InvalidReference('repository name must not be more than 255 characters');
  }
  const digest = match[3] ?? '';
  if (digest !== '') checkOcDigest(digest);
  const { registry, repository } = splitRegistry(path);
  // A registry alone keeps its port, which the grammar takes for a tag.
  const alone = registry !== '' && repository === '';
  const slash = repository.indexOf('/');
  return {
    transport,
    registry: alone ? rest : registry,
    namespace: slash < 0 ? '' : repository.slice(0, slash),
    name: repository.slice(slash + 1),
    tag: alone ? '' : (match[2] ?? ''),
    digest,
  };
}

/** A reference without its transport. `file://` and `file:///` mean the same. */
function splitTransport(text: string): { transport: OcReference['transport']; rest: string } {
  if (text.startsWith('s3://')) return { transport: 's3', rest: text.slice(5) };
  if (!text.startsWith('file://')) return { transport: 'registry', rest: text };
  return { transport: 'file', rest: text.slice(text.startsWith('file:///') ? 8 : 7) };
}

/** The error that Docker's parser, which `oc` uses, has for such a text. */
function whyNot(text: string): string {
  if (text === '') return 'repository name must have at least one component';
  return REFERENCE.test(text.toLowerCase())
    ? 'repository name must be lowercase'
    : 'invalid reference format';
}

/**
 * Checks a digest by oc's rules.
 *
 * @throws InvalidReference with oc's message
 */
function checkOcDigest(digest: string): void {
  const colon = digest.indexOf(':');
  const length = DIGEST_LENGTHS.get(digest.slice(0, colon));
  if (length === undefined) throw new InvalidReference('unsupported digest algorithm');
  if (digest.length - colon - 1 !== length) throw new InvalidReference('invalid checksum digest length');
}

/** Takes a host off a path: with a slash as Docker's client does, without one a name with a dot or `localhost…`. */
function splitRegistry(path: string): { registry: string; repository: string } {
  const slash = path.indexOf('/');
  if (slash < 0) {
    const isHost = path.includes('.') || path.startsWith('localhost');
    return isHost ? { registry: path, repository: '' } : { registry: '', repository: path };
  }
  const host = path.slice(0, slash);
  if (!/[.:]/.test(host) && host !== 'localhost') return { registry: '', repository: path };
  return { registry: host, repository: path.slice(slash + 1) };
}

/** Fills in what Docker's client assumes: Docker Hub, its `library`, the tag `latest`. */
function withDefaults(reference: OcReference): OcReference {
  const registry = reference.registry === '' ? 'docker.io' : reference.registry;
  const namespace =
    reference.namespace === '' && DOCKER_HUB_HOSTS.has(registry) ? 'library' : reference.namespace;
  return { ...reference, registry, namespace, tag: reference.tag === '' ? 'latest' : reference.tag };
}

/** The reference with the parts that it has; a digest hides the tag. */
function exactText(reference: OcReference): string {
  const { registry, namespace, name, tag, digest } = reference;
  if (name === '') return '';
  const path = [registry, namespace, name].filter((part) => part !== '').join('/');
  if (digest !== '') return `${path}@${digest}`;
  return tag === '' ? path : `${path}:${tag}`;
}

/** The text that oc hashes: as written, but for `library/` where Docker Hub is spelled out. */
function hashedText(reference: OcReference): string {
  const library = reference.namespace === '' && DOCKER_HUB_HOSTS.has(reference.registry);
  return exactText(library ? { ...reference, namespace: 'library' } : reference);
}

/** The tag of an image that is named by digest alone: up to eight hexadecimal digits, without padding. */
function hashTag(reference: OcReference): string {
  return fnvHash(hashedText(reference)).toString(16);
}

interface OcNaming {
  /** The index image; where it lies in files, everything else is expected below it. */
  readonly index: OcReference;
  /** Where everything is mounted. */
  readonly to: OcReference;
  /** Most components of a destination's path; 0 for no limit. */
  readonly maxComponents: number;
}

/**
 * Names images below `to` as oc does; where oc would leave a destination without a name,
 * the image's own stays. In files everything is mounted below the index, under its whole
 * path, so that a second hop can shorten it.
 */
export function ocNaming({ index, to, maxComponents }: OcNaming): Naming {
  const files = to.transport === 'file';
  const most = files ? 0 : maxComponents;
  const mountPoint = files ? referenceOf(mountedDestination(index, to, 0)) : to;
  return {
    place: (request) =>
      ocPlacement(request, { index, to: request.role === 'index' ? to : mountPoint, maxComponents: most }),
  };
}

/**
 * Where oc reads an image and puts it; a text says why it has no place. As oc does: the destination follows the reference
 * as it was written, the source gets the digest that was found, and the index stays as it was typed.
 */
function ocPlacement(request: ImageRequest, { index, to, maxComponents }: OcNaming): Placement | string {
  const { role, written, wanted, digest } = request;
  const parsed = tryParse(written);
  if (typeof parsed === 'string') return parsed;
  const pinned = digest === undefined ? withDefaults(parsed) : { ...withDefaults(parsed), digest };
  const destination = mountedDestination(parsed, to, maxComponents);
  if (role === 'index') return { role, written, wanted, source: typedText(parsed), destination };
  const source = index.transport === 'file' ? fileSource(pinned, index) : exactText(pinned);
  return { role, written, wanted, source, destination };
}

/**
 * The reference, or why it is none. A single part with a dot is a host to oc, which loses
 * the image; to nodes it is a name on Docker Hub.
 */
function tryParse(written: string): OcReference | string {
  try {
    const parsed = parseOcReference(written);
    return parsed.name === '' && parsed.transport === 'registry'
      ? parseOcReference(`docker.io/${written}`)
      : parsed;
  } catch (error) {
    if (error instanceof InvalidReference) return error.message;
    throw error;
  }
}

/** A destination of an earlier hop as the place of later ones. */
function referenceOf({ transport, registry, repository, tag }: Destination): OcReference {
  const slash = repository.indexOf('/');
  const namespace = slash < 0 ? '' : repository.slice(0, slash);
  return { transport, registry, namespace, name: repository.slice(slash + 1), tag, digest: '' };
}

/** Where an image lies below an index in files: an earlier hop has put it there. */
function fileSource(image: OcReference, index: OcReference): string {
  const { digest } = image;
  const { repository, tag } = mountedDestination(image, index, 0);
  return typedText({
    ...referenceOf({ transport: 'file', registry: index.registry, repository, tag }),
    digest,
  });
}

/** The reference with the prefix of its transport. */
export function typedText(reference: OcReference): string {
  return (reference.transport === 'registry' ? '' : `${reference.transport}://`) + exactText(reference);
}

/** Where `oc` puts an image: below the destination's path, under its own path without the registry. */
function mountedDestination(image: OcReference, to: OcReference, maxComponents: number): Destination {
  const byDigest = image.tag === '' && image.digest !== '';
  const { namespace, name, tag } = withDefaults(byDigest ? { ...image, tag: hashTag(image) } : image);
  const components = [to.namespace, ...to.name.split('/'), namespace, ...name.split('/')].filter(
    (part) => part !== '',
  );
  return {
    // Nobody mirrors to s3: the styles of naming refuse it.
    transport: to.transport === 'file' ? 'file' : 'registry',
    registry: to.registry,
    repository: cutComponents(components, maxComponents).join('/'),
    tag,
  };
}

/** The components beyond the limit become one, joined by hyphens; 0 means no limit, and oc refuses 1. */
function cutComponents(components: readonly string[], most: number): readonly string[] {
  if (most < 2 || components.length <= most) return components;
  return [...components.slice(0, most - 1), components.slice(most - 1).join('-')];
}
