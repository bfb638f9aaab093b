/** What commands say of a change. */
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, plain } from '../../text.ts';
import type { Edited } from './catalog.ts';

/** Prints what was changed, or why nothing was. */
export async function editedText({ changed, refused }: Edited, terminal: Terminal): Promise<ExitCode> {
  for (const finding of refused) terminal.err(findingText(finding));
  if (refused.length > 0) {
    terminal.err('refused: nothing was changed\n');
    return 1;
  }
  for (const path of changed) await terminal.out(`${plain(path)}\n`);
  if (changed.length === 0) terminal.err('nothing to change\n');
  return 0;
}
