/**
 * Where an image is, as people write it: a reference, or a directory or file behind the names
 * of transports that skopeo and podman know.
 *
 * @see https://github.com/containers/image/blob/main/docs/containers-transports.5.md
 */
import { resolve } from 'node:path';
import {
  formatReference,
  InvalidReference,
  oneRegistry,
  parseReference,
  type Reference,
  type TagReference,
} from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import { formatLayoutTag, type LayoutTag, parseLayoutTag } from './name.ts';

export type ImageLocation =
  | { readonly kind: 'registry'; readonly reference: Reference }
  /** An image layout, in a directory or in a tar file; the tag may name another repository: `name:tag`. */
  | { readonly kind: 'oci' | 'oci-archive'; readonly path: string; readonly tag?: LayoutTag }
  | { readonly kind: 'docker-archive'; readonly path: string; readonly name?: TagReference };

/**
 * Reads `REFERENCE`, `docker://REFERENCE`, `oci:DIR[:TAG]`, `oci-archive:FILE[:TAG]` or
 * `docker-archive:FILE[:REFERENCE]`.
 *
 * @throws PipelineError `usage`
 */
export function parseLocation(text: string): ImageLocation {
  const [, kind, rest = ''] = /^(docker|oci|oci-archive|docker-archive):(.*)$/s.exec(text) ?? [];
  if (kind === 'oci' || kind === 'oci-archive') return layoutPlace(kind, rest, text);
  if (kind === 'docker-archive') {
    const [path, name] = splitPath(rest, text);
    return { kind, path, ...(name === undefined ? {} : { name: archiveName(name, text) }) };
  }
  if (kind === 'docker' && rest.startsWith('//'))
    return { kind: 'registry', reference: writtenReference(rest.slice(2), text) };
  return { kind: 'registry', reference: writtenReference(text, text) };
}

/**
 * The image that a text names once no file has that name. It must include its registry.
 *
 * @throws PipelineError `not-found` for a text without one, which may be a mistyped path; `usage`
 */
export function imagePlace(text: string): ImageLocation {
  if (/^(?:docker|oci|oci-archive|docker-archive):/.test(text) || namesRegistry(text))
    return parseLocation(text);
  throw new PipelineError('not-found', `${text}: no such directory`, {
    hint: 'write an image with its registry: quay.io/ORGANIZATION/CATALOG:TAG',
  });
}

/** Transports of container tools that read this machine's files or storage. */
const LOCAL_TRANSPORT =
  /^(?:oci|oci-archive|docker-archive|docker-daemon|containers-storage|dir|file|sif|tarball):/;

/** Whether a text names something on the machine that reads it: by a transport, an absolute path (of Windows, too), or one that leads out. */
export function isOnThisMachine(text: string): boolean {
  return (
    LOCAL_TRANSPORT.test(text) ||
    /^(?:[A-Za-z]:)?[/\\]|^~/.test(text) ||
    /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text)
  );
}

/**
 * Whether a text begins with a host, which has a dot or a port but no dot in front (`./a`): otherwise every mistyped path would
 * be an image of Docker Hub.
 */
function namesRegistry(text: string): boolean {
  const [host, rest] = text.split('/', 2);
  return rest !== undefined && host !== undefined && /^(?:localhost|[^.].*[.:].*)(?::\d+)?$/.test(host);
}

/** A place whose relative path starts from a directory; an image in a registry as it is. */
export function locationFrom(directory: string, place: ImageLocation): ImageLocation {
  return place.kind === 'registry' ? place : { ...place, path: resolve(directory, place.path) };
}

/** A layout in a directory or an archive, with the tag that follows its path. */
function layoutPlace(kind: 'oci' | 'oci-archive', rest: string, text: string): ImageLocation {
  const [path, name] = splitPath(rest, text);
  if (name === undefined) return { kind, path };
  const tag = parseLayoutTag(name);
  if (tag === undefined) throw unusable(text, `${name} is not a TAG or NAME:TAG`);
  return { kind, path, tag };
}

/** The path ends at the first colon, but for the one after a Windows drive: `C:\a:v1` is `C:\a` and `v1`. */
function splitPath(rest: string, text: string): [path: string, name: string | undefined] {
  const [, path = '', name] = /^((?:[A-Za-z]:(?=[\\/]))?[^:]*)(?::(.*))?$/s.exec(rest) ?? [];
  if (path === '') throw unusable(text, 'a path is missing');
  return [path, name];
}

/** The tag of an image in an archive of Docker. @throws PipelineError `usage` for a digest */
function archiveName(name: string, text: string): TagReference {
  const read = writtenReference(name, text);
  if (read.kind === 'tag') return read;
  throw unusable(text, 'an image in an archive needs a tag');
}

/** The reference that somebody wrote. @param text what he wrote it in @throws PipelineError `usage` that names the text */
export function writtenReference(name: string, text: string = name): Reference {
  try {
    return parseReference(name);
  } catch (error) {
    if (error instanceof InvalidReference) throw unusable(text, error.message);
    throw error;
  }
}

/** The error for a text that is not an image. */
function unusable(text: string, why: string): PipelineError {
  // In place of an image it may be a URL with a password, `https://user:password@host/path`: all before the `@` is hidden.
  const shown = JSON.stringify(text.replace(/^.*@(?=.*\/)/s, '***@'));
  return new PipelineError('usage', `${shown} is not a valid image: ${why}`, {
    hint: 'use REGISTRY/REPOSITORY:TAG, oci:DIRECTORY:TAG, oci-archive:FILE:TAG or docker-archive:FILE',
  });
}

/** The place as `parseLocation` reads it. */
export function formatLocation(place: ImageLocation): string {
  if (place.kind === 'registry') return formatReference(place.reference);
  if (place.kind === 'docker-archive') {
    return `${place.kind}:${place.path}${place.name === undefined ? '' : `:${formatReference(place.name)}`}`;
  }
  if (place.tag === undefined) return `${place.kind}:${place.path}`;
  return `${place.kind}:${place.path}:${formatLayoutTag(place.tag)}`;
}

/** A formatted place, equal for all spellings of it. */
export function oneSpelling(place: string): string {
  // A path has one spelling only.
  if (/^(?:oci|oci-archive|docker-archive):/.test(place)) return place;
  return place.replace(/^[^/]+/, oneRegistry);
}
