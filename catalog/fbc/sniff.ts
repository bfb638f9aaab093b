/** Whether a file is JSON, by what it begins with. Whoever opens files needs no more of the readers. */
import { GO_SPACE } from '../go/text.ts';

/** How far into a file Go looks for the brace that says JSON. */
export const SNIFF = 4096;

const LIKE_JSON = new RegExp(`^[${GO_SPACE}]*\\{`);

/** Whether a text is read as JSON first: whether a brace shows in its first bytes. */
export function startsLikeJson(text: string, sniff: number = SNIFF): boolean {
  const start = LIKE_JSON.exec(text.slice(0, sniff))?.[0];
  return start !== undefined && new TextEncoder().encode(start).length <= sniff;
}
