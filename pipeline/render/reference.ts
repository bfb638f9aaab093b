/**
 * What stands behind a reference, as blobs: a directory with a catalog, an index image.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Loaded, load } from '../../catalog/load.ts';
import { directorySource } from '../directory.ts';
import { PipelineError } from '../error.ts';

export interface RenderOptions {
  /** The directory that relative paths start from. */
  readonly directory: string;
}

/**
 * @throws PipelineError `not-found` or `usage` when there is nothing that could be rendered
 */
export async function renderReference(reference: string, options: RenderOptions): Promise<Loaded> {
  const path = resolve(options.directory, reference);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new PipelineError('not-found', `${reference}: no such directory`);
  if (!found.isDirectory()) throw new PipelineError('usage', `${reference} is not a directory`);
  return load(directorySource(path));
}
