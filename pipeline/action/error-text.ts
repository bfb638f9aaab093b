/** An error as the job's log says it, with its hint on a line of its own. */
import type { PipelineError } from '../error.ts';
import { plain } from '../text.ts';

export function plainText({ message, hint }: PipelineError): string {
  return hint === undefined ? plain(message) : `${plain(message)}\n${plain(hint)}`;
}
