/**
 * An OCI image layout: a directory that holds images, of one repository or of several.
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */

import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { linkOut, refuseLinkOut } from '../../../directory.ts';
import { PipelineError } from '../../../error.ts';
import type { Descriptor, Manifest } from '../../../ports.ts';
import { removeAbandoned } from '../../../write.ts';
import { contentOf, parseManifest } from '../image.ts';
import { isRepository, isTag } from '../name.ts';
import { streamOf } from '../stream.ts';
import { type Blobs, openBlobs, TEMPORARY } from './blobs.ts';
import {
  createView,
  heldByOthers,
  heldInLists,
  type LayoutView,
  type ManifestReader,
  manifestReader,
} from './contents.ts';
import { EMPTY_INDEX, type Entry, formatIndex, type IndexChange, withoutManifest } from './entries.ts';
import { fileError, isAbsent, makeDirectory, replaceFile, TEMPORARY_FILE } from './files.ts';
import { INDEX, JOURNAL, openIndex } from './index-store.ts';

/** A directory with images of one repository or of several, to be read and changed. */
export interface Layout extends LayoutView {
  readonly directory: string;
  readonly blobs: Blobs;
  /**
   * Puts a manifest in, under a tag or under its digest alone. Its content must be there.
   *
   * @param how `isImmutable`: a tag that exists is an error, `denied`
   */
  add(
    repository: string,
    tag: string | undefined,
    manifest: Manifest,
    how?: { readonly isImmutable: boolean },
  ): Promise<void>;
  /** @returns false when there was no such tag */
  removeTag(repository: string, tag: string): Promise<boolean>;
  /** Removes a manifest and its tags; false if the repository has no entry for it. */
  removeManifest(repository: string, digest: string): Promise<boolean>;
  /** Leaves the layout to those who read `index.json` alone; needed after `journaled` only. */
  close(): Promise<void>;
}

const VERSION = 'oci-layout';

/**
 * Opens a layout.
 *
 * @param create whether to create a missing layout; otherwise it is an error
 * @param takesSparse whether lists may name images that are not in the layout
 * @param journaled whether many changes are to come: each is then appended to a journal, and `index.json` follows
 * @throws PipelineError `not-found`, or `usage` for a directory with other things in it, or links that lead out of it
 */
export async function openLayout(
  directory: string,
  {
    create,
    takesSparse = false,
    journaled = false,
  }: { readonly create: boolean; readonly takesSparse?: boolean; readonly journaled?: boolean },
): Promise<Layout> {
  if (!(await isLayout(directory))) {
    if (!create) throw new PipelineError('not-found', `${directory} is not an OCI image layout`);
    await beginLayout(directory);
  }
  if (create) {
    removeAbandoned(join(directory, TEMPORARY), /^/);
    removeAbandoned(directory, TEMPORARY_FILE);
  }
  const blobs = openBlobs(directory);
  const store = openIndex(directory, journaled);
  const manifests = manifestReader(blobs);
  const { invalidate, ...view } = createView(blobs, manifests, store.read);
  return {
    directory,
    ...view,
    blobs,
    add: async (repository, tag, manifest, how) => {
      if (!(repository === '' || isRepository(repository)) || !(tag === undefined || isTag(tag)))
        throw new PipelineError('usage', `not a name in a layout: ${JSON.stringify({ repository, tag })}`);
      await store.change(async ({ entries }) => {
        const exists = entries.some((entry) => entry.repository === repository && entry.tag === tag);
        if (how?.isImmutable && exists)
          throw new PipelineError('denied', `the tag ${tag} is immutable and exists`);
        const { descriptor, within } = await admitManifest(blobs, manifest, { manifests, takesSparse });
        const held =
          tag === undefined ? await heldInLists(entries, repository, manifests) : new Set<string>();
        return { kind: 'put', repository, tag, descriptor, within, held };
      });
      invalidate();
    },
    removeTag: (repository, tag) => store.change(async () => ({ kind: 'untag', repository, tag })),
    // All in one turn: nobody else must take the manifest for one that is there while its file is removed.
    removeManifest: (repository, digest) =>
      store.inTurn(async (change) => {
        if (!(await view.contents(repository)).manifests.has(digest)) return false;
        // Names of other programs are shown as the layout's own repository; what they lead to stays.
        if (repository === '' && (await heldByOthers((await store.read()).entries, manifests)).has(digest))
          throw new PipelineError('conflict', `another program has named ${digest} in ${directory}`);
        await change(({ entries }) => removalOf(entries, { repository, digest, manifests }));
        // The file stays for the other repository. Here the manifest is gone, unless a list still leads to it.
        if (await isHeldElsewhere(view, repository, digest)) {
          if (!(await view.contents(repository)).manifests.has(digest)) return true;
          throw new PipelineError(
            'conflict',
            `${digest} belongs to a manifest list and to another repository`,
          );
        }
        await blobs.remove(digest);
        manifests.forget(digest);
        invalidate();
        return true;
      }),
    close: store.fold,
  };
}

/**
 * The change of the index that takes a manifest out: what only its list held gets entries of its own.
 *
 * @returns undefined if the repository has no entry for it
 */
async function removalOf(
  entries: readonly Entry[],
  { repository, digest, manifests }: { repository: string; digest: string; manifests: ManifestReader },
): Promise<IndexChange | undefined> {
  const found = entries.find(
    (entry) => entry.repository === repository && entry.descriptor.digest === digest,
  );
  if (found === undefined) return undefined;
  const parsed = (await manifests(found.descriptor))?.parsed;
  const rest = withoutManifest(entries, { repository, digest, orphans: [] });
  const held = await heldInLists(rest, repository, manifests);
  const orphans: Descriptor[] = [];
  for (const child of parsed?.kind === 'list' ? parsed.manifests : []) {
    if (!held.has(child.digest) && (await manifests(child)) !== undefined) orphans.push(child);
  }
  return { kind: 'remove', repository, digest, orphans };
}

/** Whether another repository of the layout has a manifest: its file must then stay. */
async function isHeldElsewhere(view: LayoutView, repository: string, digest: string): Promise<boolean> {
  for (const other of await view.repositories()) {
    if (other !== repository && (await view.contents(other)).manifests.has(digest)) return true;
  }
  return false;
}

/** What of a layout is opened by its name. Blobs are opened without following links. */
const PLACES = [
  VERSION,
  INDEX,
  JOURNAL,
  TEMPORARY,
  'blobs',
  ...['sha256', 'sha384', 'sha512'].map((algorithm) => `blobs/${algorithm}`),
];

/**
 * Whether a directory has the file that marks a layout. It is asked before a layout is opened: one that somebody sent must not
 * lead to other files of this machine.
 *
 * @throws PipelineError `usage` if a link leads out of the directory, or to it out of a clone
 */
export async function isLayout(directory: string): Promise<boolean> {
  refuseLinkOut(directory);
  try {
    for (const place of PLACES.map((name) => join(directory, name))) {
      const isLink = (await lstat(place).catch(() => undefined))?.isSymbolicLink();
      if (isLink && linkOut(directory, place) !== undefined) throw leadsOut(place);
    }
    return (await stat(join(directory, VERSION))).isFile();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw fileError(`cannot read ${directory}`, error);
  }
}

/** The error for a layout with a link out of it. */
function leadsOut(link: string): PipelineError {
  return new PipelineError('usage', `${link} is a link out of the OCI image layout`, {
    hint: 'copy what it leads to into the layout; the directory of the layout may be a link itself',
  });
}

/** Makes an empty layout in a directory. @throws PipelineError `usage` if the directory has other files */
async function beginLayout(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && name !== 'blobs');
    if (names.length > 0) {
      throw new PipelineError('usage', `${directory} contains files other than an OCI image layout`, {
        hint: 'use a directory that is empty or does not exist',
      });
    }
    await makeDirectory(join(directory, 'blobs', 'sha256'));
    const index = new TextEncoder().encode(formatIndex(EMPTY_INDEX));
    // The version comes last: with it the directory is a layout.
    await replaceFile(join(directory, INDEX), index);
    await replaceFile(join(directory, VERSION), new TextEncoder().encode('{"imageLayoutVersion":"1.0.0"}'));
  } catch (error) {
    throw fileError(`cannot create ${directory}`, error);
  }
}

/**
 * Checks that all that a manifest names is there, and stores its bytes.
 *
 * @returns its descriptor, and the digests of all that it leads to as a list: these need no entries in the index
 * @throws PipelineError `not-found` for content that is missing, `corrupt` for content of another size
 */
async function admitManifest(
  blobs: Blobs,
  manifest: Manifest,
  { manifests, takesSparse }: { readonly manifests: ManifestReader; readonly takesSparse: boolean },
): Promise<{ descriptor: Descriptor; within: ReadonlySet<string> }> {
  const parsed = parseManifest(manifest);
  const { mediaType, digest, bytes } = manifest;
  for (const content of contentOf(parsed)) {
    const size = await blobs.size(content.digest);
    if (size === undefined && takesSparse && parsed.kind === 'list') continue;
    if (size === undefined)
      throw new PipelineError('not-found', `${digest} references ${content.digest}, which is missing`);
    if (size !== content.size)
      throw new PipelineError('corrupt', `${content.digest} has ${size} bytes, expected ${content.size}`);
  }
  const artifactType = parsed.artifactType;
  const descriptor = {
    mediaType,
    digest,
    size: bytes.length,
    ...(artifactType === undefined ? {} : { artifactType }),
  };
  if ((await blobs.size(digest)) !== bytes.length) await blobs.write(streamOf(bytes), descriptor);
  const below = new Set<string>();
  const walk = parsed.kind === 'list' ? [...parsed.manifests] : [];
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    if (below.has(next.digest)) continue;
    below.add(next.digest);
    const held = await manifests(next);
    if (held?.parsed.kind === 'list') walk.push(...held.parsed.manifests);
  }
  return { descriptor, within: below };
}
