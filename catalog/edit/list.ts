/** Lists in the text of a document: one more item, and all else as it stands. */
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
  const inserted = format === 'yaml' ? insertedItem(piece.text, key, item) : undefined;
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

/** Undefined when the list does not stand over several lines. */
function insertedItem(text: string, key: string, item: Json): string | undefined {
  const { root } = readTree(text, { depth: DEPTH });
  if (root?.kind !== 'mapping') return undefined;
  const list = root.pairs.findLast((pair) => pair.key.kind === 'scalar' && pair.key.text === key)?.value;
  if (list?.kind !== 'sequence' || list.items.length === 0 || text.charAt(list.start) !== '-')
    return undefined;
  const margin = text.slice(text.lastIndexOf('\n', list.start) + 1, list.start);
  if (margin.trim() !== '') return undefined;
  const at = endOf(
    list,
    root.pairs.map((pair) => pair.key.start),
    text,
  );
  const lines = emitYaml(item).trimEnd().split('\n');
  const written = lines.map((line, i) => `${margin}${i === 0 ? '- ' : '  '}${line}\n`).join('');
  const before = text.slice(0, at);
  return `${before}${before.endsWith('\n') ? '' : '\n'}${written}${text.slice(at)}`;
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
