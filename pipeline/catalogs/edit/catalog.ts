/** Changes to a catalog's files: made in memory, checked, and only then written. */
import { basename, dirname, join } from 'node:path';
import { type FileText, fileText, joinedText } from '../../../catalog/edit/file.ts';
import { EditError } from '../../../catalog/edit/package.ts';
import { isIgnoreFile } from '../../../catalog/fbc/ignore.ts';
import { catalogFiles, load } from '../../../catalog/fbc/load.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { type CatalogSource, sourceOf } from '../../../catalog/source.ts';
import { directorySource } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { removeFile, writeFiles } from '../../write.ts';

/** A change that has not been written. */
interface EditPlan {
  /** Texts of the files that change; undefined for one that is removed. None when the change is refused. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Errors that the change would bring, or that keep the catalog from being read. */
  readonly refused: readonly Finding[];
}

/** Changes texts of files; what comes back are the files that changed. */
export type Edit = (files: readonly FileText[]) => readonly FileText[];

/**
 * Makes a change to the catalog in a directory, in memory. It is refused when it makes the catalog break a
 * rule that it kept before.
 *
 * @throws PipelineError `usage` for a change that cannot be made, `io`
 */
export async function planEdit(root: string, edit: Edit): Promise<EditPlan> {
  const source = directorySource(root);
  const before = await errorsOf(source);
  if (before.unread.length > 0) return { files: new Map(), refused: before.unread };
  const files = await textsOf(source);
  const changed = new Map(attemptEdit(() => edit(files)).map((file) => [file.path, joinedText(file)]));
  const texts = new Map([...files.map((file) => [file.path, joinedText(file)] as const), ...changed]);
  // A file that lost all of its text is removed.
  const edited = sourceOf(Object.fromEntries([...texts].filter(([, text]) => text !== '')));
  const after = await errorsOf(edited);
  const namesBefore = new Set(before.errors.map(nameOf));
  const refused = [...after.unread, ...after.errors].filter((finding) => !namesBefore.has(nameOf(finding)));
  if (refused.length > 0) return { files: new Map(), refused };
  const written = [...changed].map(([path, text]) => [path, text === '' ? undefined : text] as const);
  return { files: new Map(written), refused };
}

/** Writes a planned change into the directory that it was planned for. @throws PipelineError `io` */
export function writeEdit(root: string, files: EditPlan['files']): void {
  for (const [path, text] of files) write(join(root, path), text);
}

/** The files of a catalog as texts, in the order of walking the tree. */
export async function textsOf(source: CatalogSource): Promise<FileText[]> {
  const texts: FileText[] = [];
  for (const file of await catalogFiles(source)) {
    if (!isIgnoreFile(file.path)) texts.push(fileText(file.path, await file.read()));
  }
  return texts;
}

/**
 * The errors of a catalog: those for which it cannot be read whole (`unread`), and those that opm finds in what was
 * read.
 */
async function errorsOf(source: CatalogSource): Promise<{ unread: Finding[]; errors: Finding[] }> {
  const { blobs, findings } = await load(source);
  const unread = findings.filter(({ severity }) => severity === 'error');
  return { unread, errors: opmFindings(blobs).filter(({ severity }) => severity === 'error') };
}

/** Tells findings apart without their lines, which a change moves. */
function nameOf({ rule, message }: Finding): string {
  return `${rule} ${message}`;
}

/** Makes a change to texts. @throws PipelineError `usage` for a change that cannot be made */
export function attemptEdit<T>(edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    throw new PipelineError('usage', error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}

/** Writes a file; without a text, removes it. */
function write(path: string, text: string | undefined): void {
  if (text === undefined) removeFile(path);
  else writeFiles(dirname(path), new Map([[basename(path), text]]));
}
