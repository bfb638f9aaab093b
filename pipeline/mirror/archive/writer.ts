/**
 * Images into an archive: a tar file, in parts, of an OCI image layout, and a receipt. What
 * is complete of it stays when the program is killed; the next run goes on behind it.
 */
import { appendFileSync, existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tarPadding } from '../../../catalog/fbc/cache/tar.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { formatReference, type Reference, repositoryName } from '../../../catalog/reference.ts';
import { readText, refuseLinkOut } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import { checkedBytes } from '../../oci/digest.ts';
import { OCI_INDEX } from '../../oci/media-types.ts';
import { headerOf, paddingOf, TAR_END } from '../../oci/registry/archive/tar.ts';
import { descriptorOf, isManifestType, parseManifest, referrerDescriptor } from '../../oci/registry/image.ts';
import { fileError, replaceFile } from '../../oci/registry/layout/files.ts';
import { allOf, streamOf } from '../../oci/registry/stream.ts';
import type { BlobOutcome, BlobSource, Manifest, Repository } from '../../ports.ts';
import type { CopyTarget } from '../copy-run.ts';
import { endOfParts, openParts, type PartWriter } from './parts.ts';
import {
  type ArchivedBlob,
  type ArchivedFile,
  type ArchivedName,
  type ArchiveReceipt,
  type EarlierBlob,
  RECEIPT,
  readReceipt,
  receiptText,
} from './receipt.ts';

interface ArchiveWriter {
  readonly target: CopyTarget;
  /**
   * Writes the index and the receipt; gives the bytes of the archive.
   *
   * @param files those of the plan that are beside its parts
   */
  finish(files?: readonly ArchivedFile[]): Promise<number>;
  /** Leaves the archive as it is, to be gone on with. */
  close(): Promise<void>;
}

interface ArchiveOptions {
  readonly directory: string;
  /** Bytes of a part. */
  readonly part: number;
  /** The receipt of the archive before: what came with it is left out. */
  readonly since: ArchiveReceipt | undefined;
}

/** The journal of written entries, one line of JSON each, until there is a receipt. */
const JOURNAL = 'receipt.part';
/** Blobs up to this size, in bytes, are read whole before they are written, many at a time. */
const SMALL = 4 * 1024 * 1024;
/** Bytes of a header in a tar file; the content follows. */
const BLOCK = 512;

/** A line of the journal: the size of parts first, then each blob and name once it is written. */
type Line = { readonly part: number } | { readonly blob: ArchivedBlob } | { readonly name: ArchivedName };

interface State {
  readonly blobs: Map<string, ArchivedBlob>;
  readonly names: Map<string, ArchivedName>;
  /** By digest. */
  readonly earlier: ReadonlyMap<string, EarlierBlob>;
}

/**
 * Opens an archive to be written, or to be gone on with.
 *
 * @throws PipelineError `io`, `corrupt`
 */
export async function openArchiveWriter(options: ArchiveOptions): Promise<ArchiveWriter> {
  const { directory, part } = options;
  const journal = join(directory, JOURNAL);
  const state = await openState(options);
  const parts = await openParts(directory, part, Math.max(0, ...[...state.blobs.values()].map(endOf)));
  const note = (line: Line): void => {
    try {
      appendFileSync(journal, `${JSON.stringify(line)}\n`);
    } catch (error) {
      throw fileError(`cannot write ${journal}`, error);
    }
  };
  const append = appender(parts, (blob) => {
    state.blobs.set(blob.digest, blob);
    note({ blob });
  });
  const put = async (to: Repository, blob: BlobSource): Promise<BlobOutcome> => {
    if (state.earlier.has(blob.digest) || state.blobs.has(blob.digest)) return 'present';
    await append(blob, repositoryName(to));
    return 'uploaded';
  };
  return {
    target: {
      resolve: async (reference) => state.names.get(formatReference(underItsTag(reference))),
      putBlob: put,
      putManifest: async (to, manifest) => {
        const { digest, bytes } = manifest;
        await put(to, { digest, size: bytes.length, open: () => streamOf(bytes) });
        const name = archivedNameOf(to, manifest);
        if (state.names.get(name.name)?.digest === digest) return;
        state.names.set(name.name, name);
        note({ name });
      },
      async *listTags(of) {
        const prefix = `${repositoryName(of)}:`;
        for (const { name } of state.names.values())
          if (name.startsWith(prefix)) yield name.slice(prefix.length);
      },
    },
    close: parts.close,
    finish: async (files = []) => {
      const receipt = { ...(await finishParts(parts, state, part)), files };
      await replaceFile(join(directory, RECEIPT), new TextEncoder().encode(receiptText(receipt)));
      rmSync(journal, { force: true });
      return receipt.size;
    },
  };
}

/** A reference with a tag and a digest is written under its tag, as registries do. */
function underItsTag(reference: Reference): Reference {
  const { registry, repository } = reference;
  return reference.kind === 'digest'
    ? { kind: 'digest', registry, repository, digest: reference.digest }
    : reference;
}

/**
 * What an archive notes about a manifest under its name. A registry gives the artifact type only in its list of referrers:
 * so it is noted only for a manifest with a subject.
 */
function archivedNameOf(to: Reference, manifest: Manifest): ArchivedName {
  const descriptor = descriptorOf(manifest);
  const parsed = isManifestType(manifest.mediaType) ? parseManifest(manifest) : undefined;
  const { artifactType } = parsed ? referrerDescriptor(descriptor, parsed) : descriptor;
  const subject = parsed?.subject?.digest;
  return {
    name: formatReference(underItsTag(to)),
    digest: descriptor.digest,
    mediaType: descriptor.mediaType,
    size: descriptor.size,
    ...(subject === undefined ? {} : { subject, ...(artifactType === undefined ? {} : { artifactType }) }),
  };
}

/** What an earlier run has left in the archive's directory, complete or not, and what an earlier archive has. */
async function openState({ directory, part, since }: ArchiveOptions): Promise<State> {
  const state: State = {
    blobs: new Map(),
    // What an earlier archive brought counts as there: the next one leaves it out.
    names: new Map((since?.names ?? []).map((name) => [name.name, name])),
    earlier: new Map([...(since?.earlier ?? []), ...(since?.blobs ?? [])].map((blob) => [blob.digest, blob])),
  };
  refuseLinkOut(directory);
  try {
    mkdirSync(directory, { recursive: true });
    for (const line of await writtenIn(directory, part)) {
      if ('blob' in line) state.blobs.set(line.blob.digest, line.blob);
      else if ('name' in line) state.names.set(line.name.name, line.name);
    }
  } catch (error) {
    throw fileError(`cannot write an archive to ${directory}`, error);
  }
  return state;
}

/**
 * What is complete in a directory: what its receipt names, then what a later run has noted in its journal.
 *
 * @throws PipelineError `usage` for parts of another size, `corrupt` for missing ones
 */
async function writtenIn(directory: string, part: number): Promise<Line[]> {
  const path = join(directory, RECEIPT);
  const end = await endOfParts(directory, part);
  const written: Line[] = [];
  if (existsSync(path)) {
    const receipt = readReceipt(readText(path), path);
    if (receipt.part !== part) throw otherParts(directory, receipt.part);
    if (receipt.content > end) throw shortParts(directory, { expected: receipt.content, found: end });
    written.push(...receipt.blobs.map((blob) => ({ blob })), ...receipt.names.map((name) => ({ name })));
  }
  return [...written, ...soundLines(join(directory, JOURNAL), { part, end })];
}

/**
 * The lines of a journal up to the first that a kill or a full disk has cut short, or whose blob is not whole in
 * the parts. The file is cut off there, so that what is added is a line of its own.
 */
function soundLines(journal: string, { part, end }: { readonly part: number; readonly end: number }): Line[] {
  const lines: Line[] = [];
  let length = 0;
  const text = existsSync(journal) ? readRegular(journal).toString('utf8') : '';
  // The text behind the last line break is empty, or a line that was cut short.
  for (const written of text.split('\n').slice(0, -1)) {
    const line = lineOf(written);
    if (!line || ('blob' in line && endOf(line.blob) > end)) break;
    if ('part' in line && line.part !== part) throw otherParts(dirname(journal), line.part);
    lines.push(line);
    length += Buffer.byteLength(written) + 1;
  }
  if (length === 0) writeFileSync(journal, `${JSON.stringify({ part })}\n`);
  else truncateSync(journal, length);
  return lines;
}

/** A line of the journal; undefined for one that was cut short. */
function lineOf(text: string): Line | undefined {
  return parsedJson(text) as Line | undefined;
}

/** Where a blob ends in the archive, filled up as tar does. */
function endOf({ offset, size }: ArchivedBlob): number {
  return offset + size + tarPadding(size);
}

/** The error for an archive that was begun with parts of another size. */
function otherParts(directory: string, part: number): PipelineError {
  return new PipelineError('usage', `the archive in ${directory} has parts of ${part} bytes`, {
    hint: `use --archive-size ${part}, or another directory`,
  });
}

/** The error for an archive that lost parts which its receipt has. */
function shortParts(
  directory: string,
  { expected, found }: Record<'expected' | 'found', number>,
): PipelineError {
  return new PipelineError(
    'corrupt',
    `the archive in ${directory} ends at byte ${found}, but its receipt declares ${expected} bytes`,
    { hint: 'restore its parts, or use another directory' },
  );
}

/**
 * Appends blobs to the parts, one after the other as a tar needs it, although many are asked for at once. Small ones are fetched
 * before it is their turn, so that the network does not wait for the disk.
 */
function appender(
  parts: PartWriter,
  done: (blob: ArchivedBlob) => void,
): (blob: BlobSource, repository: string) => Promise<void> {
  let turn: Promise<unknown> = Promise.resolve();
  const write = async (
    { digest, size }: BlobSource,
    repository: string,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<void> => {
    const start = parts.position();
    try {
      await parts.write(headerOf(entryName(digest), size));
      for await (const chunk of bytes) await parts.write(chunk);
      await parts.write(paddingOf(size));
    } catch (error) {
      await parts.cut(start);
      throw error;
    }
    done({ digest, size, offset: start + BLOCK, repository });
  };
  return async (blob, repository) => {
    const bytes = checkedBytes(blob.open(0), blob, `the blob ${blob.digest} for ${repository}`);
    const ready = blob.size <= SMALL ? streamOf(await allOf(bytes)) : bytes;
    const mine = turn.then(() => write(blob, repository, ready));
    // One that fails does not stop those behind it.
    turn = mine.catch(() => undefined);
    await mine;
  };
}

/**
 * The path of a blob in an image layout. Longer digests are cut: the header of a tar file has 100 bytes for a
 * name.
 */
function entryName(digest: string): string {
  const colon = digest.indexOf(':');
  return `blobs/${digest.slice(0, colon)}/${digest.slice(colon + 1)}`.slice(0, 100);
}

/** Ends the tar with what makes it an image layout once it is unpacked. */
async function finishParts(
  parts: PartWriter,
  { names, blobs, earlier }: State,
  part: number,
): Promise<ArchiveReceipt> {
  const content = parts.position();
  const manifests = [...names.values()].map(({ name, digest, mediaType, size }) => ({
    mediaType,
    digest,
    size,
    annotations: { 'org.opencontainers.image.ref.name': name },
  }));
  const files: readonly (readonly [string, unknown])[] = [
    ['oci-layout', { imageLayoutVersion: '1.0.0' }],
    ['index.json', { schemaVersion: 2, mediaType: OCI_INDEX, manifests }],
  ];
  for (const [name, json] of files) {
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    await parts.write(headerOf(name, bytes.length));
    await parts.write(bytes);
    await parts.write(paddingOf(bytes.length));
  }
  await parts.write(TAR_END);
  await parts.close();
  return {
    format: 'dev.portolan.archive/v1',
    part,
    size: parts.position(),
    content,
    names: [...names.values()],
    blobs: [...blobs.values()],
    earlier: [...earlier.values()].map(({ digest, repository }) => ({ digest, repository })),
  };
}
