/** Archives to be read: images under the names that they are to have at the destination. */
import { join } from 'node:path';
import { formatReference, type Reference, repositoryName } from '../../../catalog/reference.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { algorithmOf, checkedBytes, digestMismatch, digestOf } from '../../oci/digest.ts';
import { LARGEST_MANIFEST } from '../../oci/registry/client.ts';
import { manifestType } from '../../oci/registry/image.ts';
import { allOf } from '../../oci/registry/stream.ts';
import type { Descriptor, Manifest, Registry, Repository } from '../../ports.ts';
import { fileInside } from './files.ts';
import { checkParts, readParts } from './parts.ts';
import { type ArchivedName, type ArchiveReceipt, RECEIPT, readReceipt } from './receipt.ts';

interface ArchiveReader {
  readonly registry: Registry;
  /** A repository of the destination that got a blob with this archive or with an earlier one. */
  readonly holderOf: (registry: string, digest: string) => string | undefined;
}

interface Opened {
  readonly directory: string;
  readonly receipt: ArchiveReceipt;
}

/**
 * Opens archives; what is in several of them under one name is that of the last. A manifest that
 * came with an earlier archive is read where that one was loaded.
 *
 * @throws PipelineError `not-found`, `corrupt`
 */
export async function openArchives(
  directories: readonly string[],
  destination: Pick<Registry, 'getManifest'>,
): Promise<ArchiveReader> {
  const opened: Opened[] = [];
  for (const directory of directories) {
    fileInside(directory, RECEIPT);
    const receipt = receiptAt(directory);
    checkParts(directory, receipt);
    opened.push({ directory, receipt });
  }
  const names = new Map(
    opened.flatMap(({ receipt }) => receipt.names.map((one) => [one.name, one] as const)),
  );
  const earlier = new Map(
    opened.flatMap(({ receipt }) =>
      receipt.earlier.map(({ digest, repository }) => [digest, repository] as const),
    ),
  );
  const places = new Map(
    opened.flatMap((one) => one.receipt.blobs.map((blob) => [blob.digest, { ...blob, one }] as const)),
  );
  const bytesOf = (digest: string): AsyncGenerator<Uint8Array, void, undefined> => {
    const place = places.get(digest);
    if (!place) throw absent(digest, earlier.has(digest));
    const { offset, size, one } = place;
    return readParts(one.directory, { part: one.receipt.part, start: offset, end: offset + size });
  };
  // A receipt is not signed: a holder on another host than the destination is not asked.
  const holderOf = (registry: string, digest: string): string | undefined => {
    const holder = earlier.get(digest);
    return holder?.startsWith(`${registry}/`) ? holder.slice(registry.length + 1) : undefined;
  };
  /** From the destination if an earlier archive brought it there, else from these archives. */
  const manifestOf: Content['manifestOf'] = async (digest, registry, name) => {
    const holder = places.has(digest) ? undefined : holderOf(registry, digest);
    const loaded =
      holder === undefined
        ? undefined
        : await destination.getManifest({ kind: 'digest', registry, repository: holder, digest });
    return loaded ?? readManifest(digest, name, bytesOf);
  };
  return {
    registry: archiveRegistry(names, { bytesOf, manifestOf, has: (digest) => places.has(digest) }),
    holderOf,
  };
}

/** Reads the receipt of an archive. @throws PipelineError `not-found`, `corrupt` */
export function receiptAt(directory: string): ArchiveReceipt {
  const path = join(directory, RECEIPT);
  try {
    return readReceipt(readText(path), path);
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'not-found') throw error;
    throw new PipelineError('not-found', `${directory} is not a complete archive: it has no ${RECEIPT}`, {
      hint: 'run the copy to the archive again: it resumes',
    });
  }
}

/** The error for content that no archive has brought. */
function absent(digest: string, isEarlier: boolean): PipelineError {
  const why = isEarlier
    ? 'is in an earlier archive, and the destination does not have it: load that archive first, or pass it too'
    : 'is not in the archive';
  return new PipelineError('not-found', `${digest} ${why}`);
}

/** Where an archive's content is read from. */
interface Content {
  readonly bytesOf: (digest: string) => AsyncGenerator<Uint8Array, void, undefined>;
  /** @param registry the destination, which may have it from an earlier archive */
  readonly manifestOf: (
    digest: string,
    registry: string,
    name: ArchivedName | undefined,
  ) => Promise<Manifest>;
  readonly has: (digest: string) => boolean;
}

/** An archive as a registry that can only be read. */
function archiveRegistry(
  names: ReadonlyMap<string, ArchivedName>,
  { bytesOf, manifestOf, has }: Content,
): Registry {
  const refuse = async (): Promise<never> => {
    throw new PipelineError('denied', 'archives are read-only here');
  };
  const resolve = async (reference: Reference): Promise<Descriptor | undefined> =>
    names.get(keyOf(reference));
  return {
    resolve,
    getManifest: async (reference) => {
      const name = names.get(keyOf(reference));
      const digest = name?.digest ?? (reference.kind === 'digest' ? reference.digest : undefined);
      return digest === undefined ? undefined : manifestOf(digest, reference.registry, name);
    },
    getBlob: (of, blob) =>
      checkedBytes(
        bytesOf(blob.digest),
        blob,
        `the blob ${blob.digest} of ${repositoryName(of)} in the archive`,
      ),
    hasBlob: async (_, digest) => has(digest),
    async *listTags(of) {
      const prefix = `${repositoryName(of)}:`;
      for (const name of names.keys()) if (name.startsWith(prefix)) yield name.slice(prefix.length);
    },
    listReferrers: async (of, digest, artifactType) => {
      const all = referrersOf(names, of, digest);
      return artifactType === undefined ? all : all.filter((one) => one.artifactType === artifactType);
    },
    putBlob: refuse,
    putManifest: refuse,
    deleteManifest: refuse,
  };
}

/** The manifests of a repository that are about a digest. */
function referrersOf(
  names: ReadonlyMap<string, ArchivedName>,
  repository: Repository,
  subject: string,
): ArchivedName[] {
  const prefix = `${repositoryName(repository)}@`;
  return [...names.values()].filter((one) => one.subject === subject && one.name.startsWith(prefix));
}

/** A reference as receipts name it: of one with a tag and a digest, the digest counts. */
function keyOf(reference: Reference): string {
  const { registry, repository } = reference;
  return reference.kind === 'tag'
    ? formatReference(reference)
    : formatReference({ kind: 'digest', registry, repository, digest: reference.digest });
}

/** A manifest of the archive. @throws PipelineError `corrupt` if its digest is another one */
async function readManifest(
  digest: string,
  name: ArchivedName | undefined,
  bytesOf: Content['bytesOf'],
): Promise<Manifest> {
  const bytes = await allOf(bytesOf(digest), {
    most: LARGEST_MANIFEST,
    what: `the manifest ${digest} in the archive`,
  });
  const found = digestOf(bytes, algorithmOf(digest));
  if (found !== digest)
    throw digestMismatch(`the manifest of ${name?.name ?? digest} in the archive`, digest, found);
  return { mediaType: name?.mediaType ?? manifestType(bytes, ''), digest, bytes };
}
