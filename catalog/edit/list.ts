/** Adds an item to a list in the text of a document; the rest of the text stays unchanged. */
import { emitYaml } from '../yaml/emit.ts';
import { readTree } from '../yaml/parser.ts';
import type { Json } from '../yaml/scalar.ts';
import type { YamlNode } from '../yaml/tree.ts';
import { type FileFormat, type PieceText, pieceOf } from './file.ts';

/** Deepest nesting of a document that is changed. */
const DEPTH = 1000;

/**
 * A document with one more item in a list of its root.
 *
 * @param key the key of the list; a list that is missing, or stands on one line, makes the
 *   whole document be written anew
 */
export function withItem(
  piece: PieceText,
  format: FileFormat,
  { key, item }: { readonly key: string; readonly item: Json },
): PieceText {
  const inserted = format === 'yaml' ? insertedAt(piece.text, [key], item) : undefined;
  return pieceOf(inserted ?? rewritten(piece, format, { key, item }));
}

function rewritten(
  { blob, text }: PieceText,
  format: FileFormat,
  { key, item }: { readonly key: string; readonly item: Json },
): string {
  const value = { ...blob?.value } as Record<string, Json>;
  const list = value[key];
  value[key] = [...(Array.isArray(list) ? list : []), item];
  if (format === 'yaml') return `---\n${emitYaml(value)}`;
  const space = /^\s*/.exec(text)?.[0] ?? '';
  return `${space}${JSON.stringify(value, null, 4)}\n`;
}

/**
 * A document's text with one more item at the end of the list at a path; the rest stays unchanged.
 * Undefined when there is no such list, or it does not stand over several lines.
 */
export function insertedAt(text: string, path: readonly (string | number)[], item: Json): string | undefined {
  const { root } = readTree(text, { depth: DEPTH });
  const beside: number[] = [];
  let list: YamlNode | undefined = root;
  for (const step of path) {
    beside.push(...startsIn(list));
    list = childAt(list, step);
  }
  if (list?.kind !== 'sequence' || list.items.length === 0 || text.charAt(list.start) !== '-')
    return undefined;
  const margin = marginOf(text, list.start);
  if (margin === undefined) return undefined;
  const at = endOf(list, beside, text);
  const lines = emitYaml(item).trimEnd().split('\n');
  const written = lines.map((line, i) => `${margin}${i === 0 ? '- ' : '  '}${line}\n`).join('');
  const before = text.slice(0, at);
  return `${before}${before.endsWith('\n') ? '' : '\n'}${written}${text.slice(at)}`;
}

/** What stands before a list's first dash; undefined when that is more than spaces and dashes of lists around it. */
function marginOf(text: string, start: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return /^[ -]*$/.test(before) ? before.replaceAll('-', ' ') : undefined;
}

function childAt(node: YamlNode | undefined, step: string | number): YamlNode | undefined {
  if (node?.kind === 'sequence' && typeof step === 'number') return node.items[step];
  if (node?.kind !== 'mapping') return undefined;
  return node.pairs.findLast(({ key }) => key.kind === 'scalar' && key.text === step)?.value;
}

function startsIn(node: YamlNode | undefined): number[] {
  if (node?.kind === 'mapping') return node.pairs.map(({ key }) => key.start);
  return node?.kind === 'sequence' ? node.items.map(({ start }) => start) : [];
}

/** Where a list's last line ends: before the next key, and before the blank lines and comments that lead to it. */
function endOf(list: YamlNode, keys: readonly number[], text: string): number {
  const next = Math.min(...keys.filter((start) => start > list.start), text.length);
  let at = next === text.length ? next : text.lastIndexOf('\n', next) + 1;
  for (;;) {
    const lineStart = text.lastIndexOf('\n', at - 2) + 1;
    if (at === 0 || !/^\s*(?:#.*)?$/.test(text.slice(lineStart, at).trimEnd())) return at;
    at = lineStart;
  }
}
