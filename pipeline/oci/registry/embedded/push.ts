/** Writing: uploads of blobs, manifests, removals. */
import type { IncomingHttpHeaders } from 'node:http';
import { PipelineError } from '../../../error.ts';
import type { Manifest } from '../../../ports.ts';
import { algorithmOf, digestOf, isDigest } from '../../digest.ts';
import { contentOf, type ImageManifest, type ManifestList, manifestType, parseManifest } from '../image.ts';
import { isTag } from '../name.ts';
import type { Registry, RegistryRequest } from './members.ts';
import { type Reply, refusalReply } from './reply.ts';
import type { Route } from './route.ts';
import type { Upload } from './uploads.ts';

type At<K extends Route['kind']> = Extract<Route, { kind: K }>;

/** Begins an upload, takes a whole blob, or mounts one. */
export async function openUpload(
  registry: Registry,
  { name }: At<'uploads'>,
  call: RegistryRequest,
): Promise<Reply> {
  const mounted = await mount(registry, name, call);
  if (mounted) return mounted;
  const digest = call.query.get('digest');
  if (digest !== null && !isDigest(digest))
    return refusalReply(400, 'DIGEST_INVALID', 'unsupported digest algorithm');
  const algorithm = call.query.get('digest-algorithm');
  if (algorithm !== null && !['sha256', 'sha384', 'sha512'].includes(algorithm)) {
    return refusalReply(400, 'DIGEST_INVALID', 'unknown digest algorithm');
  }
  const upload = registry.uploads.open(registry.toLayout(name));
  if (digest === null) return progress(202, name, upload);
  await upload.append(call.body);
  return finish(registry, name, { upload, digest });
}

/** Mounts a blob from another repository; undefined begins an ordinary upload, as the specification asks. */
async function mount(
  registry: Registry,
  name: string,
  { query, request }: RegistryRequest,
): Promise<Reply | undefined> {
  const digest = query.get('mount');
  if (digest === null || !isDigest(digest)) return undefined;
  const { members, gate, layout, toLayout, fromLayout } = registry;
  const from = query.get('from');
  const source = from === null ? await members.holder(digest) : toLayout(from);
  if (source === undefined || (await members.size(source, digest)) === undefined) return undefined;
  // Mounting a blob needs the permission to read it.
  if (await gate.check(request, { repository: fromLayout(source), action: 'pull' })) return undefined;
  members.add(toLayout(name), digest);
  // A manifest that names it is still to come: until then it must not count as left over.
  await layout.blobs.touch(digest);
  return storedReply(name, digest);
}

/** The answer to a client whose blob is in the repository now. */
function storedReply(name: string, digest: string): Reply {
  return {
    status: 201,
    headers: { location: `/v2/${name}/blobs/${digest}`, 'docker-content-digest': digest },
  };
}

/** The location of an upload, and its progress. */
function progress(status: number, name: string, upload: Upload): Reply {
  return {
    status,
    headers: {
      location: `/v2/${name}/blobs/uploads/${upload.id}`,
      range: `0-${Math.max(0, upload.size() - 1)}`,
      'docker-upload-uuid': upload.id,
    },
  };
}

/** Answers a request about an upload: its progress, more bytes, its end, or that it is given up. */
export async function continueUpload(
  registry: Registry,
  route: At<'upload'>,
  call: RegistryRequest,
): Promise<Reply> {
  const { name, id } = route;
  const upload = registry.uploads.find(registry.toLayout(name), id);
  if (!upload) return refusalReply(404, 'BLOB_UPLOAD_UNKNOWN', 'upload not found');
  const { method, headers } = call.request;
  if (method === 'GET') return progress(204, name, upload);
  if (method === 'DELETE') {
    await upload.cancel();
    return { status: 204 };
  }
  const digest = call.query.get('digest');
  if (method === 'PUT' && !isDigest(digest))
    return refusalReply(400, 'DIGEST_INVALID', 'unsupported digest algorithm');
  const wrong = wrongRange(headers, upload);
  if (wrong)
    return wrong === 'size'
      ? refusalReply(400, 'SIZE_INVALID', 'the range does not match the length of the body')
      : progress(416, name, upload);
  await upload.append(call.body);
  return method === 'PUT' && isDigest(digest)
    ? finish(registry, name, { upload, digest })
    : progress(202, name, upload);
}

/** How a chunk's `Content-Range` is wrong: not the next one, or not as long as its body; undefined if it is right or absent. */
function wrongRange(headers: IncomingHttpHeaders, upload: Upload): 'order' | 'size' | undefined {
  const range = headers['content-range'];
  if (range === undefined) return undefined;
  const [, from, to] = /^(?:bytes )?(\d+)-(\d+)(?:\/.*)?$/.exec(range) ?? [];
  if (Number(from) !== upload.size()) return 'order';
  const length = headers['content-length'];
  return length !== undefined && Number(to) - Number(from) + 1 !== Number(length) ? 'size' : undefined;
}

/** Ends an upload: its bytes become a blob of the repository. */
async function finish(
  { members, toLayout }: Registry,
  name: string,
  { upload, digest }: { upload: Upload; digest: string },
): Promise<Reply> {
  await upload.commit(digest);
  members.add(toLayout(name), digest);
  return storedReply(name, digest);
}

/** Takes a manifest when all that it names is in the repository. */
export async function pushManifest(
  registry: Registry,
  route: At<'manifest'>,
  call: RegistryRequest,
): Promise<Reply> {
  const { layout, toLayout, isImmutable } = registry;
  const { name, tag } = route;
  const bytes = await bodyOf(call, registry.largestManifest);
  const digest = digestOf(bytes, route.digest === undefined ? undefined : algorithmOf(route.digest));
  if (route.digest !== undefined && digest !== route.digest) {
    return refusalReply(400, 'DIGEST_INVALID', `the manifest has the digest ${digest}`);
  }
  const type = (call.request.headers['content-type'] ?? '').split(';', 1)[0]?.trim() ?? '';
  const manifest: Manifest = { mediaType: manifestType(bytes, type), digest, bytes };
  const parsed = parseManifest(manifest);
  const repository = toLayout(name);
  const missing = await firstMissing(registry, repository, parsed);
  if (missing !== undefined) return refusalReply(404, 'MANIFEST_BLOB_UNKNOWN', `${name} has no ${missing}`);
  // A push by digest may name tags in its query, which `oci-tag` in the answer repeats.
  const tags = route.digest === undefined ? [tag ?? ''] : call.query.getAll('tag');
  if (!tags.every(isTag))
    return refusalReply(400, 'MANIFEST_INVALID', 'a tag is 1 to 128 letters, digits, _ . and -');
  // All tags are checked before one is written.
  const { tags: standing } = await layout.contents(repository);
  const immutableTag = tags.find((one) => standing.has(one) && isImmutable(name, one));
  if (immutableTag !== undefined)
    return refusalReply(400, 'DENIED', `the tag ${immutableTag} is immutable and exists`);
  // Whoever pushes at the same time may have given the tag meanwhile, so `add` checks again. Without tags the digest names it.
  for (const one of tags.length === 0 ? [undefined] : tags)
    await layout.add(repository, one, manifest, { isImmutable: one !== undefined && isImmutable(name, one) });
  return {
    status: 201,
    headers: {
      location: `/v2/${name}/manifests/${route.digest ?? tag}`,
      'docker-content-digest': digest,
      ...(parsed.subject === undefined ? {} : { 'oci-subject': parsed.subject.digest }),
      ...(route.digest === undefined || tags.length === 0 ? {} : { 'oci-tag': tags.join(', ') }),
    },
  };
}

/**
 * The body of a request, read whole.
 *
 * @throws PipelineError `too-large`, before more than the limit is in memory
 */
async function bodyOf(call: RegistryRequest, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of call.body) {
    size += chunk.length;
    if (size > limit) throw new PipelineError('too-large', `a manifest has at most ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The first digest that a manifest names and the repository lacks; undefined if it has all. */
async function firstMissing(
  { layout, members, takesSparse }: Registry,
  repository: string,
  parsed: ImageManifest | ManifestList,
): Promise<string | undefined> {
  if (parsed.kind === 'list' && takesSparse) return undefined;
  const { manifests } = await layout.contents(repository);
  for (const digest of new Set(contentOf(parsed).map((one) => one.digest))) {
    const isThere =
      parsed.kind === 'list' ? manifests.has(digest) : (await members.size(repository, digest)) !== undefined;
    if (!isThere) return digest;
  }
  return undefined;
}

/** Answers a request to remove a blob from a repository; 405 while a manifest names it. */
export async function removeBlob(
  { members, toLayout }: Registry,
  { name, digest }: At<'blob'>,
): Promise<Reply> {
  const repository = toLayout(name);
  if ((await members.size(repository, digest)) === undefined) {
    return refusalReply(404, 'BLOB_UNKNOWN', `${name} has no blob ${digest}`);
  }
  if (await members.isNamed(repository, digest))
    return refusalReply(405, 'UNSUPPORTED', 'a manifest references this blob');
  await members.remove(repository, digest);
  return { status: 202 };
}

/** Answers a request to remove a manifest, or only a tag of it. */
export async function removeManifest({ layout, toLayout }: Registry, route: At<'manifest'>): Promise<Reply> {
  const { name, digest, tag } = route;
  const repository = toLayout(name);
  const removed =
    digest === undefined
      ? await layout.removeTag(repository, tag ?? '')
      : await layout.removeManifest(repository, digest);
  if (removed) return { status: 202 };
  return refusalReply(404, 'MANIFEST_UNKNOWN', `${name} has no manifest ${digest ?? tag}`);
}
