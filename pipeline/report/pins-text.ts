/** What a pull request says that brings new pins. */
import type { MovedTag, Repinned } from '../check/repin.ts';
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, code, escaped } from './markdown.ts';

/** The body, as Markdown. */
export function pinsBody(catalog: string, { moved, left }: Pick<Repinned, 'moved' | 'left'>): string {
  const rows = moved.map(({ tag, before, after }: MovedTag) => {
    return `| ${code(tag)} | ${before === undefined ? 'not locked' : code(before)} | ${code(after)} |`;
  });
  const table = ['| tag | was | is |', '|---|---|---|', ...rows].join('\n');
  const rest = left.map(
    ({ location: { file, line }, message, hint = '' }) =>
      `- ${code(`${file}:${line}`)} ${escaped(message)} ${code(hint)}`,
  );
  return withinBudget(
    [
      {
        text: `Tags that ${escaped(catalog)} is pinned from stand for other images now. Merging this takes them.`,
      },
      { text: moved.length === 0 ? '' : table, cuttable: true },
      { text: rest.length === 0 ? '' : ['To be written by hand:', '', ...rest].join('\n'), cuttable: true },
    ],
    COMMENT_BYTES,
  );
}
