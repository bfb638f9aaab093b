/** Rendered blobs on their way out. */

import type { Blob, Blobs } from '../../catalog/fbc/model.ts';
import { type RenderFormat, renderBlob, renderOrder } from '../../catalog/fbc/render.ts';
import { EmitError } from '../../catalog/yaml/emit.ts';
import { PipelineError } from '../error.ts';

/** Characters that are collected before they are written. */
const CHUNK = 1 << 16;

/**
 * Writes blobs in opm's order.
 *
 * @throws PipelineError `usage` for what the format cannot hold; what comes before it has been written
 */
export async function writeBlobs(
  blobs: Blobs,
  format: RenderFormat,
  out: (text: string) => Promise<void>,
): Promise<void> {
  let chunk = '';
  try {
    for (const blob of renderOrder(blobs)) {
      chunk += renderedBlob(blob, format);
      if (chunk.length < CHUNK) continue;
      const full = chunk;
      // Emptied first: when `out` fails, `finally` must not write the same text again.
      chunk = '';
      await out(full);
    }
  } finally {
    // Also before a blob that cannot be rendered: what comes before it is written.
    if (chunk !== '') await out(chunk);
  }
}

/** The text of blobs in the order in which they are given. @throws PipelineError as {@link writeBlobs} */
export function textOf(blobs: readonly Blob[], format: RenderFormat): string {
  return blobs.map((blob) => renderedBlob(blob, format)).join('');
}

/** The text of one blob. @throws PipelineError `usage` for what the format cannot hold */
export function renderedBlob(blob: Blob, format: RenderFormat): string {
  try {
    return renderBlob(blob, format);
  } catch (error) {
    if (!(error instanceof EmitError)) throw error;
    const { file, line } = blob.document.locate(error.path);
    const place = `${file}:${line}: ${blob.schema} ${JSON.stringify(blob.name)}, ${error.path.join('.')}`;
    throw new PipelineError('usage', `${place}: cannot be written as YAML: ${error.message}`, {
      hint: 'use -o json',
    });
  }
}
