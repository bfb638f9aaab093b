/** Adds an item to a list in the text of a document; the rest of the text stays unchanged. */
import { escapeHtml } from '../go/json-marshal.ts';
import { isObject } from '../go/shape.ts';
import { emitYaml } from '../yaml/emit.ts';
import { readTree } from '../yaml/parser.ts';
import type { Json } from '../yaml/scalar.ts';
import type { YamlNode } from '../yaml/tree.ts';
import { type FileFormat, type PieceText, pieceOf } from './file.ts';

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
  if (inserted !== undefined) return pieceOf(inserted);
  const value = { ...piece.blob?.value } as Record<string, Json>;
  const list = value[key];
  const grown = { ...value, [key]: [...(Array.isArray(list) ? list : []), item] };
  return pieceOf(documentText(piece.text, format, grown));
}

/**
 * A document's text with one more item at the end of the list at a path; the rest stays unchanged.
 * Undefined when there is no such list, or it does not stand over several lines.
 */
export function insertedAt(text: string, path: Path, item: Json): string | undefined {
  const { node: list, beside } = nodeAt(text, path);
  if (list?.kind !== 'sequence' || list.items.length === 0 || text.charAt(list.start) !== '-')
    return undefined;
  const margin = marginOf(text, list.start);
  if (margin === undefined) return undefined;
  const at = endOf(list, beside, text);
  const written = itemText(item, margin);
  const before = text.slice(0, at);
  return `${before}${before.endsWith('\n') ? '' : '\n'}${written}${text.slice(at)}`;
}

/** What becomes of an item of a list: another one, nothing, or the same. */
export type ItemChange = (item: Json, index: number) => Json | undefined;

type Path = readonly (string | number)[];

/**
 * A document in which items of a list are changed or left out; the rest stays unchanged. A list that does not stand over
 * several lines makes the whole document be written anew.
 *
 * @param path leads to the list
 */
export function withItems(piece: PieceText, format: FileFormat, path: Path, change: ItemChange): PieceText {
  const value = { ...piece.blob?.value } as Json;
  const list = path.reduce<unknown>(memberOf, value);
  if (!Array.isArray(list)) return piece;
  const items = (list as Json[]).map(change);
  if (items.every((item, i) => item === list[i])) return piece;
  const text = format === 'yaml' ? itemsChanged(piece.text, path, { list, items }) : undefined;
  if (text !== undefined) return pieceOf(text);
  const remainingItems = items.filter((item) => item !== undefined);
  return pieceOf(documentText(piece.text, format, withValueAt(value, path, remainingItems)));
}

function memberOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return value[Number(step)];
  return isObject(value) ? value[step] : undefined;
}

/** A copy of a value in which another one stands at a path. */
function withValueAt(value: unknown, [step, ...rest]: Path, inside: Json): Json {
  if (step === undefined) return inside;
  const below = withValueAt(memberOf(value, step), rest, inside);
  if (Array.isArray(value)) return (value as Json[]).map((item, i) => (i === step ? below : item));
  return { ...(value as Record<string, Json>), [step]: below };
}

/** A document with another value, in the format and with the indentation of its text. */
export function documentText(text: string, format: FileFormat, value: Json): string {
  if (format === 'yaml') return `---\n${emitYaml(value)}`;
  const space = /^\s*/.exec(text)?.[0] ?? '';
  // A text on one line stays on it; others have the indentation of their first key.
  const indent = text.trim().includes('\n') ? (/\n([ \t]+)"/.exec(text)?.[1] ?? 4) : 0;
  const json = JSON.stringify(value, null, indent);
  // As Go writes it: opm's own output has no <, > and &.
  return `${space}${/\\u00(?:3[ce]|26)/.test(text) ? escapeHtml(json) : json}\n`;
}

/**
 * Replaces or removes items without touching the others.
 *
 * @returns undefined where that is not possible: items share a line, or none would stay
 */
function itemsChanged(
  text: string,
  path: Path,
  { list, items }: { readonly list: readonly Json[]; readonly items: readonly (Json | undefined)[] },
): string | undefined {
  const { node, beside } = nodeAt(text, path);
  if (node?.kind !== 'sequence' || node.items.length !== list.length) return undefined;
  if (text.charAt(node.start) !== '-' || items.every((item) => item === undefined)) return undefined;
  const margin = marginOf(text, node.start);
  // The lines on which items begin. Each must begin with a dash and hold one item, or they cannot be replaced one by
  // one.
  const starts = node.items.map(({ start }) => text.lastIndexOf('\n', start - 1) + 1);
  const haveDashes = starts.every((start) => text.startsWith(`${margin}- `, start));
  if (margin === undefined || !haveDashes || new Set(starts).size < starts.length) return undefined;
  const stop = endOf(node, beside, text);
  let changed = '';
  let from = 0;
  for (const [i, item] of items.entries()) {
    if (item === list[i]) continue;
    const next = starts[i + 1];
    const start = starts[i] ?? 0;
    changed += text.slice(from, start) + (item === undefined ? '' : itemText(item, margin));
    from = next === undefined ? stop : beforeComments(text, next);
  }
  return changed + text.slice(from);
}

/** What stands at a path, and where everything begins that stands beside it or what it is in. */
function nodeAt(text: string, path: Path): { node: YamlNode | undefined; beside: number[] } {
  const { root } = readTree(text);
  const beside: number[] = [];
  let node: YamlNode | undefined = root;
  for (const step of path) {
    for (const start of startsIn(node)) beside.push(start);
    node = childAt(node, step);
  }
  return { node, beside };
}

/** An item of a list as lines, its dash at the column of the others. */
function itemText(item: Json, margin: string): string {
  const lines = emitYaml(item).trimEnd().split('\n');
  return lines.map((line, i) => `${margin}${i === 0 ? '- ' : '  '}${line}\n`).join('');
}

/** What stands before a list's first dash; undefined when that is more than spaces and dashes of lists around it. */
function marginOf(text: string, start: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return /^[ -]*$/.test(before) ? before.replaceAll('-', ' ') : undefined;
}

/** The node of a key or an index. Of equal keys the last counts. */
function childAt(node: YamlNode | undefined, step: string | number): YamlNode | undefined {
  if (node?.kind === 'sequence' && typeof step === 'number') return node.items[step];
  if (node?.kind !== 'mapping') return undefined;
  return node.pairs.findLast(({ key }) => key.kind === 'scalar' && key.text === step)?.value;
}

/** Where the keys of a mapping, or the items of a list, begin. */
function startsIn(node: YamlNode | undefined): number[] {
  if (node?.kind === 'mapping') return node.pairs.map(({ key }) => key.start);
  return node?.kind === 'sequence' ? node.items.map(({ start }) => start) : [];
}

/**
 * Where a list's last line ends: before the next key or the end of the document, and before the blank lines and comments
 * that lead to it.
 */
function endOf(list: YamlNode, keys: readonly number[], text: string): number {
  const next = keys.reduce((least, start) => (start > list.start ? Math.min(least, start) : least), Infinity);
  if (Number.isFinite(next)) return beforeComments(text, text.lastIndexOf('\n', next) + 1);
  const mark = text.slice(list.start).search(DOCUMENT_END);
  return beforeComments(text, mark < 0 ? text.length : list.start + mark);
}

/** Ends a document wherever it begins a line; what follows is not read. */
const DOCUMENT_END = /^\.\.\.(?=\s|$)/m;

/** The end of the last line above a place that is neither blank nor a comment. */
function beforeComments(text: string, from: number): number {
  let at = from;
  for (;;) {
    const lineStart = text.lastIndexOf('\n', at - 2) + 1;
    if (at === 0 || !/^\s*(?:#.*)?$/.test(text.slice(lineStart, at).trimEnd())) return at;
    at = lineStart;
  }
}
