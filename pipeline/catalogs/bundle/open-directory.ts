/** A bundle in a directory, and what opening one gives. */
import { join } from 'node:path';
import type { CatalogSource } from '../../../catalog/source.ts';
import { closedDirectory, entriesIn, fileDefect, isDirectory, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';

export interface OpenBundle {
  readonly source: CatalogSource;
  /** The Dockerfile that lies with a directory. */
  readonly dockerfile?: { readonly path: string; readonly text: string };
  /** The labels of an image. */
  readonly labels?: ReadonlyMap<string, string>;
}

/** Opens a bundle that is a directory. */
export function openBundleDirectory(path: string): OpenBundle {
  return { source: closedDirectory(path), ...dockerfileIn(path) };
}

/** The names under which tools write a bundle's Dockerfile, the likeliest first. */
const DOCKERFILES = ['bundle.Dockerfile', 'Dockerfile'];

/**
 * The Dockerfile that lies with a bundle, if there is one.
 *
 * @throws PipelineError `io` for one that is not a plain file
 */
function dockerfileIn(path: string): Pick<OpenBundle, 'dockerfile'> {
  const names = entriesIn(path).map((entry) => entry.name);
  const name = DOCKERFILES.find((known) => names.includes(known));
  if (name === undefined) return {};
  const full = join(path, name);
  const defect = fileDefect(full);
  if (defect !== undefined) throw new PipelineError('io', `${full} is ${defect}`);
  return { dockerfile: { path: name, text: readText(full) } };
}

/** Whether a directory holds a bundle: it has the two folders of one. */
export function holdsBundle(path: string): boolean {
  return ['manifests', 'metadata'].every((name) => isDirectory(join(path, name)));
}
