/** Paths of the distribution API as data. */

import { isDigest } from '../../digest.ts';
import { isRepository, isTag } from '../name.ts';
import { type Reply, refusalReply } from './reply.ts';

export type Route =
  | { readonly kind: 'greeting' }
  | { readonly kind: 'catalog' }
  | { readonly kind: 'token' }
  | { readonly kind: 'tags'; readonly name: string }
  | { readonly kind: 'blob'; readonly name: string; readonly digest: string }
  | { readonly kind: 'manifest'; readonly name: string; readonly digest?: string; readonly tag?: string }
  | { readonly kind: 'referrers'; readonly name: string; readonly digest: string }
  | { readonly kind: 'uploads'; readonly name: string }
  | { readonly kind: 'upload'; readonly name: string; readonly id: string };

/** The route of a path, or the error reply for an unknown path. */
export function routeOf(path: string): { readonly route: Route } | { readonly reply: Reply } {
  if (path === '/v2/' || path === '/v2') return { route: { kind: 'greeting' } };
  if (path === '/v2/_catalog') return { route: { kind: 'catalog' } };
  if (path === '/token') return { route: { kind: 'token' } };
  // The first pattern is greedy: a repository's name may itself have a part `blobs` or `tags`. The second is without a slash.
  const [, name, rest, last = ''] =
    /^\/v2\/(.+)\/(blobs\/uploads|blobs|manifests|tags|referrers)\/([^/]*)$/.exec(path) ??
    /^\/v2\/(.+)\/(blobs\/uploads)$/.exec(path) ??
    [];
  if (name === undefined) return { reply: refusalReply(404, 'NAME_UNKNOWN', 'not found') };
  if (!isRepository(name)) {
    return {
      reply: refusalReply(400, 'NAME_INVALID', 'a repository name is lower-case words separated by slashes'),
    };
  }
  return routeIn(name, rest ?? '', last);
}

/**
 * The route of a path, from the repository's name and what follows; a reply if there is none.
 *
 * @param rest which part of the API: `tags`, `manifests`, …
 * @param last the last part of the path: a tag, a digest or an upload's id, percent-encoded
 */
function routeIn(
  name: string,
  rest: string,
  last: string,
): { readonly route: Route } | { readonly reply: Reply } {
  if (rest === 'blobs/uploads') {
    return { route: last === '' ? { kind: 'uploads', name } : { kind: 'upload', name, id: last } };
  }
  if (rest === 'tags') {
    return last === 'list'
      ? { route: { kind: 'tags', name } }
      : { reply: refusalReply(404, 'NAME_UNKNOWN', 'not found') };
  }
  const text = decoded(last);
  if (!text.includes(':') && rest === 'manifests') {
    if (isTag(text)) return { route: { kind: 'manifest', name, tag: text } };
    return { reply: refusalReply(400, 'MANIFEST_INVALID', 'a tag is 1 to 128 letters, digits, _ . and -') };
  }
  if (isDigest(text)) {
    if (rest === 'blobs') return { route: { kind: 'blob', name, digest: text } };
    if (rest === 'referrers') return { route: { kind: 'referrers', name, digest: text } };
    return { route: { kind: 'manifest', name, digest: text } };
  }
  return {
    reply: refusalReply(400, 'DIGEST_INVALID', 'a digest is an algorithm, a colon and hexadecimal digits'),
  };
}

/** An empty text, which is neither a tag nor a digest, for what is not valid percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
