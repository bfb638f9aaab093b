/** The file layout of a catalog: one file, one per package, or one per blob. */
import type { Meta } from '../fbc/blob.ts';
import type { FileFormat } from './file.ts';

export const LAYOUTS = ['file', 'package', 'blob'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** The text of a blob, and which blob it is. */
export interface LaidBlob extends Meta {
  readonly text: string;
  readonly format: FileFormat;
}

/**
 * Texts by path. Blobs keep their order within a file.
 *
 * @param blobs in the order of the catalog
 */
export function laidOut(blobs: readonly LaidBlob[], layout: Layout): Map<string, string> {
  const files = new Map<string, string>();
  const taken = new Set<string>();
  for (const blob of blobs) {
    const name = pathOf(blob, layout);
    const path = layout === 'blob' ? freePath(name, blob, taken) : `${name}.${blob.format}`;
    files.set(path, textBehind(files.get(path) ?? '', blob));
  }
  return files;
}

/** The path of the file of a blob, without an ending. */
function pathOf(blob: Meta, layout: Layout): string {
  const pkg = blob.schema === 'olm.package' ? blob.name : blob.package;
  if (layout === 'file') return 'catalog';
  const folder = pkg === '' ? '' : `${safeName(pkg)}/`;
  return layout === 'package' ? `${folder}catalog` : `${folder}${blobName(blob)}`;
}

/**
 * The name of a blob's file: the kind of the blob, and its name if it has one. A package has one blob of its kind,
 * which needs none.
 */
function blobName({ schema, name }: Meta): string {
  const kind = schema.startsWith('olm.') ? schema.slice('olm.'.length) : schema;
  return safeName(kind === 'package' || name === '' ? kind : `${kind}-${name}`);
}

/** Names come from the catalog: they must not lead anywhere, nor hide. */
function safeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\./, '_');
}

/** A path that no other blob has, not even where the case of letters does not count. */
function freePath(name: string, { format }: LaidBlob, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const path = `${name}${count === 1 ? '' : `-${count}`}.${format}`;
    if (taken.has(path.toLowerCase())) continue;
    taken.add(path.toLowerCase());
    return path;
  }
}

/** A blob's text behind others: separated, and each on lines of its own. */
function textBehind(before: string, { text, format }: LaidBlob): string {
  const ended = text.endsWith('\n') ? text : `${text}\n`;
  if (before === '') return format === 'json' ? ended.trimStart() : ended;
  if (format === 'json') return before + ended.replace(/^[\t\n\r ]+/, '');
  return before + (ended.startsWith('---') ? ended : `---\n${ended}`);
}
