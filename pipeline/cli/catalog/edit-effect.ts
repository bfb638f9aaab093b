/** Changes to the catalog in a directory: shown with their effect, then written. */
import { type Edit, planEdit, writeEdit } from '../../catalogs/edit/catalog.ts';
import type { ExitCode } from '../../terminal.ts';
import { findingText, plain } from '../../text.ts';
import { type Asking, type IsAsked, showEffect } from '../show-effect.ts';

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
  for (const path of files.keys()) await terminal.out(`${plain(path)}\n`);
  return 0;
}
