/** Commands that change catalogs show what the change does to clusters, and only then write it. */
import { realpathSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { load } from '../../catalog/fbc/load.ts';
import { type Blobs, type Catalog, catalogOf } from '../../catalog/fbc/model.ts';
import type { Finding } from '../../catalog/finding.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import { type CatalogSource, sourceOf } from '../../catalog/source.ts';
import { type Edit, planEdit, writeEdit } from '../catalogs/edit/catalog.ts';
import { directorySource } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { withRepository, workTreeOf } from '../git/repository.ts';
import type { EditedFiles } from '../git/work-tree-commits.ts';
import { diffText } from '../report/diff.ts';
import { type ExitCode, searchPath, type Terminal } from '../terminal.ts';
import { countText, findingText, linesText, plainText } from '../text.ts';
import type { Invocation, Option } from './command.ts';
import type { CatalogEdit, Effect } from './effect.ts';
import { platformFolders } from './platform-folders.ts';

export const ACCEPT_OPTION: Readonly<Record<'accept-stranding', Option>> = {
  'accept-stranding': {
    description: 'continue even if the effect on clusters includes an error, such as a lost upgrade path',
  },
};

/** For the details of a command that writes files of a catalog. */
export const EFFECT_DETAILS: string =
  'Before Portolan writes, it prints the effect on clusters. If it includes an error, nothing is written, unless you use\n' +
  '--accept-stranding. In a git work tree, the effect takes the other catalogs and the history of the repository into account.';

/** The same for a command that makes a catalog of another one. */
export const MADE_DETAILS: string =
  'With --from-index, Portolan first prints what clusters notice when the result takes the place of that index. If this\n' +
  'includes an error, there is no result, unless you use --accept-stranding.';

/** A change that has not been written. */
export interface PlannedEdit {
  /** The directory below which the files are. */
  readonly root: string;
  /** What is to stand at paths; undefined for a file that is removed. */
  readonly files: EditedFiles;
  /** What tags stand for, as a registry has just said. */
  readonly digests?: TagDigests;
  readonly isAsked?: IsAsked;
}

/** Whether an error is what was asked for, as the loss of a package that is to be removed. */
type IsAsked = (finding: Finding) => boolean;

/** The command line that asked for a change. */
interface Asking {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/**
 * Prints what a change does to clusters: in a work tree, with the other catalogs and the history of the repository.
 *
 * @returns whether it may be written: it harms nobody, or that was accepted
 */
export async function showEffect(edit: PlannedEdit, asking: Asking): Promise<boolean> {
  const { root, files, digests, isAsked } = edit;
  const known = await effectInWorkTree(edit, asking.terminal);
  if (typeof known !== 'string') return printEffect(known, asking, isAsked);
  const unchecked = [{ what: 'other catalogs, and versions that were published before', why: known }];
  const catalogs = await editedCatalogs(root, files);
  const effect = await effectAlone(catalogs, digests);
  return printEffect({ ...effect, unchecked: [...effect.unchecked, ...unchecked] }, asking, isAsked);
}

/** A catalog that a command makes of another one. */
interface MadeCatalog {
  /** What people call it. */
  readonly name: string;
  /** What clusters have; undefined where nothing is replaced. */
  readonly before: Blobs | undefined;
  readonly after: Blobs;
  readonly isAsked?: IsAsked;
}

/** Prints what clusters notice when one catalog takes the place of another. @returns the new one, unless it is refused */
export async function madeWithEffect(
  { name, before, after, isAsked }: MadeCatalog,
  asking: Asking,
): Promise<Blobs | undefined> {
  if (!before) return after;
  const effect = await effectAlone([{ name, before: catalogOf(before), after: catalogOf(after) }]);
  return (await printEffect(effect, asking, isAsked)) ? after : undefined;
}

/**
 * Prints what an edit does to clusters.
 *
 * @returns whether it may be written
 */
async function printEffect(
  { findings, diffs, unchecked }: Effect,
  { invocation, terminal: { err } }: Asking,
  isAsked: IsAsked = () => false,
): Promise<boolean> {
  // What is only informational would bury what clusters notice.
  const shown = findings.filter(({ severity }) => severity !== 'info');
  for (const finding of shown) err(findingText(finding));
  err(linesText(unchecked.map(({ what, why }) => `not checked: ${what}: ${why}`)));
  err(diffText(diffs));
  const harm = shown.filter((finding) => finding.severity === 'error' && !isAsked(finding));
  if (harm.length === 0 || invocation.flag('accept-stranding')) return true;
  err(`FAIL: nothing was written: ${countText(harm)} for clusters (to continue, use --accept-stranding)\n`);
  return false;
}

/** What edits do to clusters, each catalog by itself: without other catalogs and without history. */
async function effectAlone(catalogs: readonly EditedCatalog[], digests?: TagDigests): Promise<Effect> {
  const { effectInCatalog } = await import('./effect.ts');
  const effects: Effect[] = [];
  for (const one of catalogs)
    effects.push(await effectInCatalog({ ...one, ...(digests ? { digests } : {}) }));
  return {
    findings: effects.flatMap(({ findings }) => findings),
    diffs: effects.flatMap(({ diffs }) => diffs),
    unchecked: effects.flatMap(({ unchecked }) => unchecked),
  };
}

/** What edits of the work tree would do to clusters. @returns a text with the reason if that is not known */
async function effectInWorkTree(
  { root, files, digests }: PlannedEdit,
  terminal: Terminal,
): Promise<Effect | string> {
  const settings = searchPath(terminal);
  const { effectInRepository } = await import('./effect.ts');
  try {
    const top = await workTreeOf(root, settings);
    return await withRepository(top, settings, async (repository) => {
      // A link on the way to one of them would make the root look as if it were outside of the top.
      const below = relative(realpathSync(top), realpathSync(root)).split(sep).join('/');
      // Where the root is the top of the work tree, `below` is empty.
      const placed = [...files].map(
        ([path, content]) => [`${below}/${path}`.replace(/^\//, ''), content] as const,
      );
      const today = terminal.now().toISOString().slice(0, 10);
      const edit = { top, files: new Map(placed), today, ...(digests ? { digests } : {}) };
      return await effectInRepository(repository, edit);
    });
  } catch (error) {
    // No repository, none with a commit, or a clone that lacks what is needed: the edit itself can still be compared.
    if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'git'))
      return error.message;
    throw error;
  }
}

// The catalogs in a directory, without and with an edit of its files.

/** A catalog before and after an edit. */
type EditedCatalog = Omit<CatalogEdit, 'digests'>;

/** The catalogs of the platform's versions in a directory; the directory itself where it has none. */
async function editedCatalogs(root: string, files: EditedFiles): Promise<EditedCatalog[]> {
  const folders = platformFolders(root);
  const before = directorySource(root);
  const after = editedSource(before, files);
  const catalogs: EditedCatalog[] = [];
  for (const folder of folders.length > 0 ? folders : [''])
    catalogs.push({
      name: basename(join(root, folder)),
      before: await catalogBelow(before, folder),
      after: await catalogBelow(after, folder),
    });
  return catalogs;
}

/** The catalog in a folder of a source. It is read alone: beside it may be other catalogs with the same packages. */
async function catalogBelow(source: CatalogSource, folder: string): Promise<Catalog> {
  const all = await source.files();
  const own = folder === '' ? all : all.filter(({ path }) => path.startsWith(`${folder}/`));
  return catalogOf((await load({ files: async () => own })).blobs);
}

/** A source with edited files in the places of its own, and without those that the edit removes. */
function editedSource(source: CatalogSource, edited: EditedFiles): CatalogSource {
  return {
    files: async () => {
      const kept = (await source.files()).filter(({ path }) => !edited.has(path));
      const written = [...edited].flatMap(([path, content]) =>
        content === undefined ? [] : [[path, content]],
      );
      return [...kept, ...(await sourceOf(Object.fromEntries(written)).files())];
    },
  };
}

// Changes to the catalog in a directory: shown with their effect, then written.

interface Editing extends Asking {
  readonly isAsked?: IsAsked;
}

/**
 * Prints what a change does to clusters, makes it, and prints the files that it changed.
 *
 * @returns 1 when the change is refused: it breaks a rule of opm, or it harms clusters and nobody accepted that
 */
export async function editWithEffect(root: string, edit: Edit, editing: Editing): Promise<ExitCode> {
  const { terminal, isAsked } = editing;
  const { files, refused } = await planEdit(root, edit);
  for (const finding of refused) terminal.err(findingText(finding));
  if (refused.length > 0) {
    terminal.err('refused: nothing was changed\n');
    return 1;
  }
  if (files.size === 0) {
    terminal.err('nothing to change\n');
    return 0;
  }
  if (!(await showEffect({ root, files, ...(isAsked ? { isAsked } : {}) }, editing))) return 1;
  writeEdit(root, files);
  for (const path of files.keys()) await terminal.out(`${plainText(path)}\n`);
  return 0;
}
