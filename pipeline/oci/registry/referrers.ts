/**
 * Referrers: manifests about other manifests, such as signatures and SBOMs. Registries that do
 * not keep the list have it in a tag that clients write.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-referrers
 */
import { parseJson } from '../../../catalog/json.ts';
import { type Reference, repositoryName, type TagReference, withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Descriptor, Manifest, Repository } from '../../ports.ts';
import { digestOf } from '../digest.ts';
import { OCI_INDEX } from '../media-types.ts';
import type { Endpoint } from './endpoint.ts';
import {
  descriptorOf,
  type ImageManifest,
  type ManifestList,
  parseManifest,
  referrerDescriptor,
} from './image.ts';
import { deleteManifest, getManifest, putManifest, resolveManifest } from './manifest.ts';
import { failureOf, headerOf, readAll } from './response.ts';
import { nextPage } from './tags.ts';

/** The tag under which clients keep the referrers of a digest, `sha256-HEX`, cut to the lengths of the specification. */
export function referrersTag(of: Repository, digest: string): TagReference {
  const [algorithm = '', encoded = ''] = digest.split(':');
  const tag = `${algorithm.slice(0, 32)}-${encoded.slice(0, 64)}`.replace(/[^\w.-]/g, '-');
  return { kind: 'tag', registry: of.registry, repository: of.repository, tag };
}

/** Manifests whose subject is a digest, from the API or from the tag. */
export async function listReferrers(
  endpoint: Endpoint,
  of: Repository,
  { digest, artifactType, limit }: { digest: string; artifactType: string | undefined; limit: number },
): Promise<readonly Descriptor[]> {
  const all =
    (await fromApi(endpoint, of, { digest, artifactType, limit })) ??
    (await fromTag(endpoint, of, { digest, limit }));
  return artifactType === undefined ? all : all.filter((one) => one.artifactType === artifactType);
}

/** Pages, and referrers, of one manifest at most: there is always a next page where a registry means harm. */
const MOST_PAGES = 64;
const MOST = 10_000;

/** The referrers of a digest by the registry's API; undefined if the registry has no such API. */
async function fromApi(
  endpoint: Endpoint,
  of: Repository,
  { digest, artifactType, limit }: { digest: string; artifactType: string | undefined; limit: number },
): Promise<Descriptor[] | undefined> {
  if (endpoint.learnt.keepsReferrers === false) return undefined;
  const query = artifactType === undefined ? '' : `?${new URLSearchParams({ artifactType })}`;
  const first = new URL(`/v2/${of.repository}/referrers/${digest}${query}`, endpoint.base);
  const found: Descriptor[] = [];
  const seen = new Set<string>();
  // A page that leads back to an earlier one is the last.
  for (let url: URL | undefined = first; url !== undefined && !seen.has(url.href); ) {
    seen.add(url.href);
    const page: Page | undefined = await readPage(endpoint, of, { url, digest, limit });
    if (page === undefined && seen.size === 1) return undefined;
    if (page === undefined) throw lostPage(of, digest);
    for (const one of page.descriptors) found.push(one);
    url = page.next;
    if (found.length > MOST || (url !== undefined && seen.size === MOST_PAGES)) {
      throw new PipelineError(
        'too-large',
        `${repositoryName(of)}@${digest} has too many referrers, the limit is ${MOST} in ${MOST_PAGES} pages`,
      );
    }
  }
  return found;
}

/** The error for a list that breaks off: the rest may have what must be seen, such as a statement that a check failed. */
function lostPage(of: Repository, digest: string): PipelineError {
  return new PipelineError(
    'bad-answer',
    `${of.registry} listed some referrers of ${repositoryName(of)}@${digest}, then had no next page`,
    { retryable: true },
  );
}

interface Page {
  readonly descriptors: readonly Descriptor[];
  readonly next: URL | undefined;
}

/** One page of referrers; undefined if the registry has no such API. */
function readPage(
  endpoint: Endpoint,
  of: Repository,
  { url, digest, limit }: { url: URL; digest: string; limit: number },
): Promise<Page | undefined> {
  const what = `the referrers of ${repositoryName(of)}@${digest}`;
  const access = { repository: of.repository, actions: 'pull' } as const;
  return endpoint.attempt(async (budget) => {
    const answer = await endpoint.ask(
      { method: 'GET', to: url, access, what, headers: { accept: OCI_INDEX } },
      budget,
    );
    // Registries of before the API take `referrers` for a part of a name, or for nothing at all.
    const absent = [400, 404, 405, 501].includes(answer.status);
    const isJson = /json/.test(headerOf(answer, 'content-type') ?? '');
    if (absent || (answer.status === 200 && !isJson)) {
      await answer.discard();
      // An error in JSON may be about this repository; a page of text is what no such API looks like.
      if (!isJson) endpoint.learnt.keepsReferrers ??= false;
      return undefined;
    }
    if (answer.status !== 200) throw await failureOf(answer, what);
    endpoint.learnt.keepsReferrers = true;
    const next = nextPage(endpoint, answer, what);
    const bytes = await readAll(answer, limit, what);
    const list = parseManifest({ bytes, mediaType: OCI_INDEX, digest: what });
    return { descriptors: list.kind === 'list' ? list.manifests : [], next };
  });
}

/** The referrers of a digest in the tag that clients keep for registries without an API. */
async function fromTag(
  endpoint: Endpoint,
  of: Repository,
  { digest, limit }: { digest: string; limit: number },
): Promise<readonly Descriptor[]> {
  const manifest = await getManifest(endpoint, referrersTag(of, digest), limit);
  if (manifest?.mediaType !== OCI_INDEX) return [];
  const list = parseManifest(manifest);
  return list.kind === 'list' ? list.manifests : [];
}

/**
 * Writes a manifest that has a subject into the list of the subject's referrers, when the
 * registry has not done so itself.
 */
export async function noteReferrer(
  endpoint: Endpoint,
  to: Reference,
  { manifest, parsed, limit }: { manifest: Manifest; parsed: ImageManifest | ManifestList; limit: number },
): Promise<void> {
  const subject = parsed.subject?.digest;
  if (subject === undefined) return;
  await changeList(endpoint, referrersTag(to, subject), {
    limit,
    change: (list) =>
      list.some((one) => one['digest'] === manifest.digest)
        ? undefined
        : [...list, { ...referrerDescriptor(descriptorOf(manifest), parsed) }],
  });
}

/** Takes a removed manifest out of the list of its subject's referrers. */
export async function forgetReferrer(
  endpoint: Endpoint,
  of: Repository,
  { digest, subject, limit }: { digest: string; subject: string; limit: number },
): Promise<void> {
  await changeList(endpoint, referrersTag(of, subject), {
    limit,
    change: (list) =>
      list.some((one) => one['digest'] === digest)
        ? list.filter((one) => one['digest'] !== digest)
        : undefined,
  });
}

type RawDescriptor = Readonly<Record<string, unknown>>;

interface ListChange {
  /** Bytes of the list at most. */
  readonly limit: number;
  /** The new list; undefined when nothing is to be changed. */
  readonly change: (list: readonly RawDescriptor[]) => readonly RawDescriptor[] | undefined;
}

/** How often a list that others change at the same time is read again. */
const ROUNDS = 5;

/** Reads, changes and writes the list until a reading shows the change: registries have no conditional writes. */
async function changeList(
  endpoint: Endpoint,
  tag: TagReference,
  { limit, change }: ListChange,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await getManifest(endpoint, tag, limit);
    const list = before === undefined ? {} : readList(before, tag);
    const changed = change(rawManifests(list));
    if (changed === undefined) return;
    // An empty list is deleted, not written: there is nothing to read again.
    if (before && changed.length === 0) return deleteList(endpoint, tag, { digest: before.digest, limit });
    const json = { ...list, schemaVersion: 2, mediaType: OCI_INDEX, manifests: changed };
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    await putManifest(endpoint, tag, { mediaType: OCI_INDEX, digest: digestOf(bytes), bytes });
  }
  throw new PipelineError(
    'conflict',
    `other clients keep changing the referrers tag ${repositoryName(tag)}:${tag.tag}`,
    {
      retryable: true,
    },
  );
}

/**
 * Deletes a list by its digest: distribution 2 deletes no tags, and a list that others have written meanwhile stays. Artifact
 * Registry refuses that while a tag names the list, and others leave the tag: there the tag is deleted.
 */
async function deleteList(
  endpoint: Endpoint,
  tag: TagReference,
  { digest, limit }: { readonly digest: string; readonly limit: number },
): Promise<void> {
  try {
    await deleteManifest(endpoint, withDigest(tag, digest));
  } catch (error) {
    if (!(error instanceof PipelineError) || error.retryable) throw error;
  }
  const standing = await resolveManifest(endpoint, tag, limit);
  if (standing?.digest === digest) await deleteManifest(endpoint, tag);
}

/**
 * The list of referrers in a tag, with fields of other clients.
 *
 * @throws PipelineError `conflict` for a tag that is something else
 */
function readList(manifest: Manifest, tag: TagReference): RawDescriptor {
  if (manifest.mediaType === OCI_INDEX && parseManifest(manifest).kind === 'list') {
    return parseJson(manifest.bytes) as RawDescriptor;
  }
  throw new PipelineError(
    'conflict',
    `the tag ${tag.tag} of ${repositoryName(tag)} is not a list of referrers`,
  );
}

function rawManifests(list: RawDescriptor): readonly RawDescriptor[] {
  return Array.isArray(list['manifests']) ? list['manifests'] : [];
}
