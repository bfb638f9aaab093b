/** Takes out of a layout what nothing names any more. */
import { join } from 'node:path';
import { PipelineError } from '../../../error.ts';
import type { Descriptor } from '../../../ports.ts';
import { type Blobs, openBlobs } from './blobs.ts';
import { type ManifestReader, manifestReader } from './contents.ts';
import type { Entry } from './entries.ts';
import { ABSENT, stampOf } from './files.ts';
import { INDEX, openIndex } from './index-store.ts';
import { isLayout } from './layout.ts';

interface CollectOptions {
  /**
   * Milliseconds that content stays at least, whoever names it: a push writes blobs first, their manifest last.
   */
  readonly youngest: number;
  /** Milliseconds after which a manifest without a tag goes too; all stay when left out. */
  readonly untagged?: number;
  /** Finds what would go, and removes nothing. */
  readonly dryRun: boolean;
}

interface Collected {
  /** Manifests without a tag that were taken out of the index. */
  readonly manifests: readonly Pick<Entry, 'descriptor' | 'repository'>[];
  /** Digests of the files that are gone, those of manifests among them. */
  readonly blobs: readonly string[];
  /** Bytes of these files. */
  readonly bytes: number;
  /** Files that stay. */
  readonly kept: number;
}

/**
 * Removes blobs that no manifest names, and where asked manifests that no tag, list or referrer's subject names.
 * A registry or another program may change the layout at the same time.
 *
 * @throws PipelineError `not-found` for a directory that is not a layout; `corrupt` when a manifest cannot be read, and
 *   nothing is removed then: nobody knows what it names
 */
export async function collectGarbage(directory: string, options: CollectOptions): Promise<Collected> {
  if (!(await isLayout(directory)))
    throw new PipelineError('not-found', `${directory} is not an OCI image layout`);
  // Without an index everything would be garbage.
  if ((await stampOf(join(directory, INDEX))) === ABSENT)
    throw new PipelineError('corrupt', `${directory} has no ${INDEX}: what its blobs belong to is unknown`);
  const blobs = openBlobs(directory);
  const manifests = manifestReader(blobs);
  const began = Date.now();
  // Keep the lock to the end: a new manifest may name content that is being removed.
  return openIndex(directory, false).alone(async ({ entries }, write) => {
    const staying =
      options.untagged === undefined
        ? entries
        : await entriesInUse(entries, {
            manifests,
            blobs,
            isYoung: youngerThan(blobs, began - options.untagged),
          });
    const digestsInUse = await namedBy(staying, { manifests, blobs });
    const isYoung = youngerThan(blobs, began - options.youngest);
    const all = await blobs.list();
    const garbage: string[] = [];
    let bytes = 0;
    for (const digest of all) {
      if (digestsInUse.has(digest) || (await isYoung(digest))) continue;
      bytes += (await blobs.size(digest)) ?? 0;
      garbage.push(digest);
    }
    if (!options.dryRun) {
      // The index first: a reader meanwhile, or after a kill, finds no manifest that lacks a part.
      if (staying.length < entries.length) await write(staying);
      for (const digest of garbage) await blobs.remove(digest);
    }
    const gone = entries.filter((entry) => !staying.includes(entry));
    return { manifests: gone, blobs: garbage, bytes, kept: all.length - garbage.length };
  });
}

/** What tells whether a blob was written after a time, in ms since 1970; false for one that is not there. */
function youngerThan(blobs: Blobs, time: number): (digest: string) => Promise<boolean> {
  return async (digest) => ((await blobs.written(digest)) ?? 0) > time;
}

/**
 * The entries that stay: those with a name, recent ones, and those whose subject stays. Names that other tools wrote
 * count.
 */
async function entriesInUse(
  entries: readonly Entry[],
  {
    manifests,
    blobs,
    isYoung,
  }: { manifests: ManifestReader; blobs: Blobs; isYoung: (digest: string) => Promise<boolean> },
): Promise<readonly Entry[]> {
  const used = new Set<Entry>();
  for (const entry of entries) {
    const isNamed = entry.tag !== undefined || entry.repository === undefined;
    if (isNamed || (await isYoung(entry.descriptor.digest))) used.add(entry);
  }
  const subjects = new Map<Entry, string | undefined>();
  for (const entry of entries)
    subjects.set(entry, (await manifests(entry.descriptor))?.parsed.subject?.digest);
  // A referrer that stays may have referrers itself, so this goes on until nothing is added.
  for (let before = -1; before < used.size; ) {
    before = used.size;
    const present = await namedBy([...used], { manifests, blobs });
    for (const [entry, subject] of subjects) {
      if (subject !== undefined && present.has(subject)) used.add(entry);
    }
  }
  return entries.filter((entry) => used.has(entry));
}

/** Digests of manifests, and of all that they and their lists name. */
async function namedBy(
  entries: readonly Entry[],
  { manifests, blobs }: { readonly manifests: ManifestReader; readonly blobs: Blobs },
): Promise<ReadonlySet<string>> {
  const isTop = new Set(entries.map(({ descriptor }) => descriptor.digest));
  const named = new Set<string>();
  const walk: Descriptor[] = entries.map(({ descriptor }) => descriptor);
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    if (named.has(next.digest)) continue;
    named.add(next.digest);
    const manifest = await manifests(next);
    if (manifest === undefined) {
      // A part of a list may be absent; what is there and not understood may name anything.
      if (isTop.has(next.digest) || (await blobs.size(next.digest)) !== undefined)
        throw new PipelineError(
          'corrupt',
          `${next.digest} (${next.mediaType}) cannot be read as a manifest`,
          {
            hint: 'nothing was removed; delete its tag, or restore the file',
          },
        );
    } else if (manifest.parsed.kind === 'list') walk.push(...manifest.parsed.manifests);
    else for (const { digest } of [manifest.parsed.config, ...manifest.parsed.layers]) named.add(digest);
  }
  return named;
}
