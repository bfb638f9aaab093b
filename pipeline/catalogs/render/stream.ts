/**
 * References rendered one blob at a time: what is kept of a blob is its name and the
 * bytes that it was rendered to, until the order of all of them is known.
 */
import { type Blob, type Blobs, joinedBlobs } from '../../../catalog/fbc/model.ts';
import { type RenderFormat, renderOrder } from '../../../catalog/fbc/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { PipelineError } from '../../error.ts';
import type { ThreadOptions } from '../two-threads.ts';
import type { Rendering } from './load.ts';
import { openSpool, pressOf, type Slot } from './ordered-spool.ts';
import { catalogDirectory, renderReference } from './reference.ts';
import { type RenderedDirectory, renderInTwoThreads } from './two-threads.ts';

interface StreamRequest {
  readonly references: readonly string[];
  readonly rendering: Rendering;
  readonly format: RenderFormat;
  /** Says what was found in a reference; whether to end without any output. */
  readonly refuses: (findings: readonly Finding[]) => boolean;
  readonly out: (bytes: Uint8Array) => Promise<void>;
  /** Of a second thread for large directories; its program posts what `renderShare` gives. */
  readonly threads?: ThreadOptions | undefined;
}

/**
 * Writes what stands behind references, in opm's order.
 *
 * @returns whether all could be read; if not, nothing is written
 * @throws PipelineError as `renderReference`; `usage` for what the format cannot hold, when
 *   what comes before it has been written; `io` for the file of a large catalog
 */
export async function streamReferences(request: StreamRequest): Promise<boolean> {
  const shared = await renderLarge(request);
  if (!shared) return streamInOneThread(request);
  const { findings, slots, spool } = shared;
  try {
    if (request.refuses(findings)) return false;
    for (const bytes of spool.bytes(slots)) await request.out(bytes);
    return true;
  } finally {
    spool.close();
  }
}

/** A large directory rendered by two threads; undefined for anything else. */
async function renderLarge({
  references,
  rendering,
  format,
  threads,
}: StreamRequest): Promise<RenderedDirectory | undefined> {
  const [reference = ''] = references;
  const root = references.length === 1 ? catalogDirectory(reference, rendering) : undefined;
  if (!threads || root === undefined) return undefined;
  return renderInTwoThreads(root, { format, migrates: rendering.migrates ?? false }, threads);
}

/** Renders catalogs in order without holding their blobs. @returns false if `refuses` rejects the findings */
async function streamInOneThread(request: StreamRequest): Promise<boolean> {
  const spool = openSpool();
  try {
    const press = pressOf(request.format, spool);
    const parts: Blobs[] = [];
    for (const reference of request.references) {
      const { blobs, findings } = await renderReference(reference, {
        ...request.rendering,
        each: press.each,
      });
      if (request.refuses(findings)) return false;
      parts.push(blobs);
    }
    const failed: PipelineError[] = [];
    const slots = slotsUntil(renderOrder(joinedBlobs(parts)), press.slotOf, failed);
    for (const bytes of spool.bytes(slots)) await request.out(bytes);
    for (const failure of failed) throw failure;
    return true;
  } finally {
    spool.close();
  }
}

/**
 * The slots of blobs, in order, up to the first that could not be rendered. Its error goes to `failed`, to be thrown
 * when what comes before it is written.
 */
function slotsUntil(
  blobs: readonly Blob[],
  slotOf: (blob: Blob) => Slot | PipelineError,
  failed: PipelineError[],
): Slot[] {
  const slots: Slot[] = [];
  for (const blob of blobs) {
    const slot = slotOf(blob);
    if (slot instanceof PipelineError) {
      failed.push(slot);
      break;
    }
    slots.push(slot);
  }
  return slots;
}
