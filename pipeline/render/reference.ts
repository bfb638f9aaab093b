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
import type { Registry } from '../ports.ts';
import { renderImage } from './image.ts';

export interface Rendering {
  /** The directory that relative paths start from. */
  readonly directory: string;
  /** The way to the registry of a host. */
  readonly registry: (host: string) => Registry;
  /** Whether bundles are refused. */
  readonly catalogsOnly?: boolean;
}

/**
 * Reads a directory that exists, and an image otherwise.
 *
 * @throws PipelineError `not-found` or `usage` when there is nothing that could be rendered
 */
export async function renderReference(reference: string, options: Rendering): Promise<Loaded> {
  const path = resolve(options.directory, reference);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return renderImage(reference, options);
  if (!found.isDirectory()) throw new PipelineError('usage', `${reference} is not a directory`);
  return load(directorySource(path));
}
