/**
 * References rendered one blob at a time: what is kept of a blob is its name and the
 * bytes that it was rendered to, until the order of all of them is known.
 */
import { joinedBlobs } from '../../../catalog/fbc/blobs.ts';
import { ownText } from '../../../catalog/fbc/document.ts';
import type { EachBlob } from '../../../catalog/fbc/load.ts';
import type { Blob, Blobs } from '../../../catalog/fbc/model.ts';
import { type RenderFormat, renderOrder } from '../../../catalog/fbc/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { PipelineError } from '../../error.ts';
import { rendered } from '../write-blobs.ts';
import type { Rendering } from './load.ts';
import { openSpool, type Slot, type Spool } from './ordered-spool.ts';
import { renderReference } from './reference.ts';

export interface StreamRequest {
  readonly references: readonly string[];
  readonly rendering: Rendering;
  readonly format: RenderFormat;
  /** Says what was found in a reference; whether to end without any output. */
  readonly refuses: (findings: readonly Finding[]) => boolean;
  readonly out: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Writes what stands behind references, in opm's order.
 *
 * @returns whether all could be read; if not, nothing is written
 * @throws PipelineError as `renderReference`; `usage` for what the format cannot hold, when
 *   what comes before it has been written; `io` for the file of a large catalog
 */
export async function streamReferences(request: StreamRequest): Promise<boolean> {
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

/** Where blobs lie, up to the first that could not be rendered. */
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

/** Renders blobs as they are read, and knows them again by what is left of them. */
interface Press {
  readonly each: EachBlob;
  /** Where a blob lies, rendered now if it was not before; or why it cannot be. */
  readonly slotOf: (blob: Blob) => Slot | PipelineError;
}

function pressOf(format: RenderFormat, spool: Spool): Press {
  const slots = new Map<Blob, Slot | PipelineError>();
  const print = (blob: Blob): Slot | PipelineError => {
    try {
      return spool.put(rendered(blob, format));
    } catch (error) {
      if (!(error instanceof PipelineError) || error.code === 'io') throw error;
      return error;
    }
  };
  const kept = <T extends Blob>(blob: Blob, left: T): T => {
    slots.set(left, print(blob));
    return left;
  };
  return {
    each: {
      package: (blob) => kept(blob, { ...husk(blob), defaultChannel: '', description: '', properties: NONE }),
      channel: (blob) => kept(blob, { ...husk(blob), entries: NONE, properties: NONE }),
      bundle: (blob) => kept(blob, { ...husk(blob), ...EMPTY_BUNDLE }),
      deprecations: (blob) => kept(blob, { ...husk(blob), entries: NONE }),
      other: (blob) => kept(blob, husk(blob)),
    },
    slotOf: (blob) => slots.get(blob) ?? print(blob),
  };
}

const NONE: readonly never[] = [];
const NOTHING = {};
const EMPTY_BUNDLE = { image: '', properties: NONE, relatedImages: NONE, version: undefined, release: '' };

/** What the order goes by; no part of the text that a blob was read from. */
function husk(blob: Blob): Blob {
  const { file, line } = blob.document;
  const document = {
    file,
    line,
    locate: () => ({ file, line, column: 1 }),
    detached: () => document,
  };
  return {
    schema: ownText(blob.schema),
    package: ownText(blob.package),
    name: ownText(blob.name),
    value: NOTHING,
    document,
  };
}
