/** Blobs rendered as they are read, of which hardly more than the bytes is left. */
import { ownText } from '../../../catalog/fbc/document.ts';
import type { EachBlob } from '../../../catalog/fbc/load.ts';
import type { Blob } from '../../../catalog/fbc/model.ts';
import type { RenderFormat } from '../../../catalog/fbc/render.ts';
import { PipelineError } from '../../error.ts';
import { rendered } from '../write-blobs.ts';
import type { Slot, Spool } from './ordered-spool.ts';

/** Renders blobs as they are read, and knows them again by what is left of them. */
interface Press {
  readonly each: EachBlob;
  /** Where a blob lies, rendered now if it was not before; or why it cannot be. */
  readonly slotOf: (blob: Blob) => Slot | PipelineError;
}

export function pressOf(format: RenderFormat, spool: Spool): Press {
  const slots = new Map<Blob, Slot | PipelineError>();
  const print = (blob: Blob): Slot | PipelineError => {
    try {
      return spool.put(rendered(blob, format));
    } catch (error) {
      // A blob that cannot be rendered is an error only in its turn; a full disk is one at once.
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
