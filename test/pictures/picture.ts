/** A page that looks as GitHub shows what was sent: the status, the annotations in the file, the comment. */
import type { Annotation, Sent } from './sent.ts';

/** Annotations that a picture has room for. */
const ANNOTATIONS = 2;

const STYLE = [
  'body{margin:0;padding:20px;width:900px;box-sizing:border-box;background:#fff;color:#1f2328;font:14px/1.5 "Noto Sans","DejaVu Sans",sans-serif;max-height:950px;overflow:hidden}',
  '.box{border:1px solid #d1d9e0;border-radius:6px;margin-bottom:14px;overflow:hidden}.head{background:#f6f8fa;border-bottom:1px solid #d1d9e0;padding:6px 12px;color:#59636e}',
  '.body{padding:8px 14px}h2{font-size:19px;margin:2px 0 8px;padding-bottom:5px;border-bottom:1px solid #d1d9e0}h3{font-size:16px;margin:12px 0 6px}p{margin:0 0 8px}ul{margin:0 0 8px;padding-left:22px}',
  'table{border-collapse:collapse;font-size:12px;margin-bottom:8px}td,th{border:1px solid #d1d9e0;padding:3px 8px;text-align:left;vertical-align:top;overflow-wrap:anywhere}td:first-child,th{white-space:nowrap}',
  'code{background:#eff1f3;border-radius:4px;padding:1px 4px;font:12px "DejaVu Sans Mono",monospace}a{color:#0969da;text-decoration:none}a code{color:#0969da}pre{display:none}',
  '.failure{border-left:4px solid #cf222e}.warning{border-left:4px solid #9a6700}.notice{border-left:4px solid #0969da}.annotation{padding:8px 14px;white-space:pre-wrap}.state{font-weight:700}',
].join('\n');

const SIGNS: Readonly<Record<string, string>> = { success: '✓', pending: '●', failure: '✗' };

/** Signs that not every machine has a font for, in colour. */
const COLOURED: readonly (readonly [string, string])[] = [
  ['✅', '<span style="color:#1a7f37">✓</span>'],
  ['❌', '<span style="color:#cf222e">✗</span>'],
  ['⏳', '<span style="color:#9a6700">●</span>'],
];

export function pictureOf({ status, annotations, comment }: Sent): string {
  const shown = annotations.slice(0, ANNOTATIONS).map(annotationBox);
  const rest = annotations.length - shown.length;
  const more = rest > 0 ? `<p>and ${rest} more</p>` : '';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><style>${STYLE}</style></head><body>
<div class="box"><div class="body"><span class="state">${SIGNS[status.state] ?? ''} portolan</span> ${escaped(status.description)}</div></div>
${shown.join('\n')}${more}
<div class="box"><div class="head"><b>github-actions</b> bot commented</div><div class="body">${htmlOf(comment)}</div></div>
</body></html>`;
}

function annotationBox({
  path,
  start_line: line,
  annotation_level: level,
  title,
  message,
}: Annotation): string {
  return `<div class="box"><div class="head">${escaped(path)}, line ${line}</div><div class="annotation ${level}"><b>${escaped(title)}</b>\n${escaped(message)}</div></div>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The Markdown that reports are written in, as HTML. */
export function htmlOf(lines: readonly string[]): string {
  const out: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const [, marks = '', title = ''] = /^(#{2,3}) (.*)$/.exec(line) ?? [];
    if (marks !== '') out.push(`<h${marks.length}>${inline(title)}</h${marks.length}>`);
    else if (line.startsWith('```')) {
      while (++i < lines.length && !lines[i]?.startsWith('```'));
    } else if (line.startsWith('|')) {
      const rows: string[] = [];
      for (; lines[i]?.startsWith('|'); i++) rows.push(lines[i] ?? '');
      i--;
      out.push(tableOf(rows));
    } else if (/^ *- /.test(line)) out.push(`<ul><li>${inline(line.replace(/^ *- /, ''))}</li></ul>`);
    else if (line.startsWith('<')) out.push(line);
    else if (line !== '') out.push(`<p>${inline(line)}</p>`);
  }
  const html = out.join('\n').replaceAll('</ul>\n<ul>', '');
  return COLOURED.reduce((text, [sign, drawn]) => text.replace(sign, drawn), html);
}

function tableOf([head = '', , ...rows]: readonly string[]): string {
  const cells = (row: string, tag: string): string =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('');
  return `<table><tr>${cells(head, 'th')}</tr>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</table>`;
}

function inline(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, i) => (i % 2 === 1 ? part : escapes(part)))
    .join('')
    .replaceAll(/\[(`[^`]*`|[^\]]*)\]\((https:[^)]*)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/`([^`]*)`/g, (_, code: string) => `<code>${escaped(code)}</code>`)
    .replaceAll(/\*\*(.+?)\*\*/g, '<b>$1</b>');
}

/** Characters that are written with a backslash; entities stay as they are. */
function escapes(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, (_, character: string) => `&#${character.charCodeAt(0)};`);
}
