/** A picture of a terminal, in the reader's light or dark colours. */
import { escapeXml } from '../../pipeline/text.ts';

/** How a line looks: what was typed, what was printed, and what of it is a failure or a fix. */
export type Look = 'typed' | 'printed' | 'bad' | 'good' | 'dim';

export interface Line {
  readonly look: Look;
  readonly text: string;
}

/** Characters of a line, unless told; longer ones go on in the next one. */
const COLUMNS = 104;
const CHARACTER = 7.83;
const LINE = 19;
const MARGIN = 18;

const STYLE = [
  'svg{--ground:#f6f8fa;--edge:#d1d9e0;--printed:#1f2328;--bad:#cf222e;--good:#1a7f37;--dim:#59636e}',
  '@media(prefers-color-scheme:dark){svg{--ground:#0d1117;--edge:#3d444d;--printed:#e6edf3;--bad:#ff7b72;--good:#3fb950;--dim:#9198a1}}',
  'rect{fill:var(--ground);stroke:var(--edge)}text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}',
  '.typed{fill:var(--printed);font-weight:700}.printed{fill:var(--printed)}.bad{fill:var(--bad);font-weight:700}.good{fill:var(--good)}.dim{fill:var(--dim)}',
].join('\n');

/** @param title what the picture shows, for those who do not see it */
export function terminalSvg(title: string, lines: readonly Line[], columns: number = COLUMNS): string {
  const rows = lines.flatMap((line) => wrapped(line, columns));
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = rows.length * LINE + 2 * MARGIN;
  const texts = rows.map(
    ({ look, text }, i) =>
      `<text class="${look}" x="${MARGIN}" y="${MARGIN + 13 + i * LINE}" xml:space="preserve">${escapeXml(text)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

/** A line by words, each row below the first one indented as the first, and two columns more. */
function wrapped({ look, text }: Line, columns: number): Line[] {
  const indentation = ' '.repeat(text.length - text.trimStart().length);
  const rows: string[] = [];
  let row = '';
  for (const word of text.trimStart().split(' ')) {
    const start = rows.length === 0 ? indentation : `${indentation}  `;
    if (row !== '' && `${row} ${word}`.length > columns) {
      rows.push(row);
      row = `${indentation}  ${word}`;
    } else row = row === '' ? `${start}${word}` : `${row} ${word}`;
  }
  return [...rows, row].map((one) => ({ look, text: one }));
}
