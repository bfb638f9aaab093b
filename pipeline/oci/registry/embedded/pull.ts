/** Reading: blobs, manifests, tags, referrers, repositories. */
import { compareText } from '../../../../catalog/go/text.ts';
import type { Descriptor } from '../../../ports.ts';
import { byteRange } from '../../byte-range.ts';
import { OCI_INDEX } from '../../media-types.ts';
import { type Contents, referrersIn } from '../layout/contents.ts';
import type { Registry, RegistryRequest } from './members.ts';
import { jsonReply, type Reply, refusalReply } from './reply.ts';
import type { Route } from './route.ts';

type At<K extends Route['kind']> = Extract<Route, { kind: K }>;

/** Answers a request for a blob, or a range of its bytes. */
export async function pullBlob(
  { members, layout, toLayout }: Registry,
  { name, digest }: At<'blob'>,
  call: RegistryRequest,
): Promise<Reply> {
  const size = await members.size(toLayout(name), digest);
  if (size === undefined) return refusalReply(404, 'BLOB_UNKNOWN', `${name} has no blob ${digest}`);
  const headers = {
    'content-type': 'application/octet-stream',
    'docker-content-digest': digest,
    'accept-ranges': 'bytes',
    etag: `"${digest}"`,
  };
  const range = byteRange(call.request.headers.range, size);
  if (range === 'outside') {
    const reply = refusalReply(416, 'SIZE_INVALID', `the blob has ${size} bytes`);
    return { ...reply, headers: { ...reply.headers, 'content-range': `bytes */${size}` } };
  }
  const [start, end] = range ?? [0, size];
  const partly = range && { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  return {
    status: range ? 206 : 200,
    headers: { ...headers, 'content-length': end - start, ...partly },
    body: layout.blobs.read(digest, start, end),
  };
}

/** Answers a request for a manifest, by tag or digest. */
export async function pullManifest({ layout, toLayout }: Registry, route: At<'manifest'>): Promise<Reply> {
  const { tags, manifests } = await layout.contents(toLayout(route.name));
  const digest = route.digest ?? tags.get(route.tag ?? '')?.digest;
  const descriptor = digest === undefined ? undefined : manifests.get(digest)?.descriptor;
  const manifest = descriptor && (await layout.manifest(descriptor));
  if (!manifest)
    return refusalReply(
      404,
      'MANIFEST_UNKNOWN',
      `${route.name} has no manifest ${route.digest ?? route.tag}`,
    );
  return {
    status: 200,
    headers: {
      'content-type': manifest.mediaType,
      'content-length': manifest.bytes.length,
      'docker-content-digest': manifest.digest,
      etag: `"${manifest.digest}"`,
    },
    body: manifest.bytes,
  };
}

/** Answers a request for the tags of a repository, in pages if the client wants that. */
export async function listTags(
  { layout, toLayout }: Registry,
  { name }: At<'tags'>,
  call: RegistryRequest,
): Promise<Reply> {
  const contents = await layout.contents(toLayout(name));
  if (isEmpty(contents)) return refusalReply(404, 'NAME_UNKNOWN', `there is no repository ${name}`);
  const page = pageOf([...contents.tags.keys()], call.query, `/v2/${name}/tags/list`);
  return jsonReply(200, { name, tags: page.items }, page.headers);
}

/** Whether a repository holds nothing, and so does not exist. */
function isEmpty({ tags, manifests }: Contents): boolean {
  return tags.size === 0 && manifests.size === 0;
}

/** Answers a request for the names of repositories, in pages if the client wants that. */
export async function listRepositories(
  { layout, fromLayout }: Registry,
  call: RegistryRequest,
): Promise<Reply> {
  const names = (await layout.repositories()).map(fromLayout);
  const page = pageOf(names, call.query, '/v2/_catalog');
  return jsonReply(200, { repositories: page.items }, page.headers);
}

/** At most `n` names after `last`, sorted, and the link to the next ones; all of them if the query has no `n`. */
function pageOf(
  all: readonly string[],
  query: URLSearchParams,
  path: string,
): { readonly items: readonly string[]; readonly headers: Readonly<Record<string, string>> } {
  const last = query.get('last') ?? '';
  const rest = [...all].sort(compareText).filter((item) => last === '' || compareText(item, last) > 0);
  const asked = query.get('n') ?? '';
  if (!/^\d+$/.test(asked)) return { items: rest, headers: {} };
  const items = rest.slice(0, Number(asked));
  const end = items.at(-1);
  if (end === undefined || items.length === rest.length) return { items, headers: {} };
  const next = new URLSearchParams({ n: asked, last: end });
  return { items, headers: { link: `<${path}?${next}>; rel="next"` } };
}

/** Bytes of a page of referrers at most, unless it has only one: their annotations are somebody else's. */
const LARGEST_PAGE = 4 * 1024 * 1024;

/** Answers a request for referrers, in pages. */
export async function listReferrers(
  { layout, toLayout }: Registry,
  { name, digest }: At<'referrers'>,
  { query }: RegistryRequest,
): Promise<Reply> {
  const artifactType = query.get('artifactType') ?? undefined;
  const asked = { digest, artifactType, after: query.get('last') ?? undefined };
  const manifests: Descriptor[] = [];
  let room = LARGEST_PAGE;
  let link = {};
  for await (const one of referrersIn(layout, toLayout(name), asked)) {
    room -= Buffer.byteLength(JSON.stringify(one));
    const last = manifests.at(-1)?.digest;
    // Each page has at least one, however large: the next one begins behind it.
    if (room < 0 && last !== undefined) {
      const next = new URLSearchParams({ ...(artifactType === undefined ? {} : { artifactType }), last });
      link = { link: `</v2/${name}/referrers/${digest}?${next}>; rel="next"` };
      break;
    }
    manifests.push(one);
  }
  const filtered = artifactType === undefined ? {} : { 'oci-filters-applied': 'artifactType' };
  return jsonReply(
    200,
    { schemaVersion: 2, mediaType: OCI_INDEX, manifests },
    { 'content-type': OCI_INDEX, ...filtered, ...link },
  );
}
