/** The edit that an advisory needs, in the text of a catalog's files; all other lines stay unchanged. */
import type { Entry, Package } from '../fbc/model.ts';
import { isObject } from '../go/shape.ts';
import { type PackageEdit, packageAfter } from '../olm/advisory/package-edit.ts';
import type { Json } from '../yaml/scalar.ts';
import { type FileFormat, type FileText, type PieceText, pieceOf } from './file.ts';
import { documentText, type ItemChange, withItems } from './list.ts';
import { addDeprecation, packageOf, type Written } from './package.ts';

/**
 * Makes the edit of a package.
 *
 * @returns the files that changed
 */
export function applyEdit(files: readonly FileText[], ofPackage: Package, edit: PackageEdit): FileText[] {
  const { name } = ofPackage;
  const isRemoved = packageAfter(ofPackage, edit) === undefined;
  let after = files.map((file) => withPieces(file, name, isRemoved ? () => undefined : changeOf(file, edit)));
  for (const [bundle, message] of isRemoved ? [] : edit.deprecations) {
    const changed = new Map(
      addDeprecation(after, name, { schema: 'olm.bundle', name: bundle, message }).map((file) => [
        file.path,
        file,
      ]),
    );
    after = after.map((file) => changed.get(file.path) ?? file);
  }
  return after.filter((file, i) => file !== files[i]);
}

type PieceChange = (piece: PieceText, blob: Written) => PieceText | undefined;

/** A file in which the blobs of a package are changed or left out; the same object if nothing changed. */
function withPieces(file: FileText, name: string, change: PieceChange): FileText {
  const pieces = file.pieces.flatMap((piece) => {
    const { blob } = piece;
    return blob && packageOf(blob) === name ? (change(piece, blob) ?? []) : piece;
  });
  const isSame = pieces.length === file.pieces.length && pieces.every((piece, i) => piece === file.pieces[i]);
  return isSame ? file : { ...file, pieces };
}

/** Says for each blob of a file what an edit makes of it: the blob as it is, changed, or undefined to remove it. */
function changeOf({ format }: FileText, edit: PackageEdit): PieceChange {
  return (piece, blob) => {
    switch (blob.schema) {
      case 'olm.package':
        return withDefaultChannel(piece, format, edit.defaultChannel);
      case 'olm.channel': {
        const entries = edit.channels.get(blob.name);
        if (!entries) return piece;
        return entries.length === 0 ? undefined : withItems(piece, format, ['entries'], entryChange(entries));
      }
      case 'olm.bundle':
        return edit.bundles.has(blob.name) ? undefined : piece;
      case 'olm.deprecations':
        return withoutReferences(piece, format, edit);
      default:
        return piece;
    }
  };
}

/**
 * Changes the items of a channel to these entries. Of an entry only the members that differ are written, and members of
 * no schema stay.
 */
export function entryChange(entries: readonly Entry[]): ItemChange {
  const after = new Map(entries.map((entry) => [entry.name, entry]));
  return (item) => {
    if (!isObject(item)) return item;
    const entry = after.get(String(item['name']));
    if (!entry) return undefined;
    const members: Record<string, Json> = {
      replaces: entry.replaces,
      skips: [...entry.skips],
      skipRange: entry.skipRange,
    };
    const changed = Object.entries(members).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(item[key] ?? (key === 'skips' ? [] : '')),
    );
    if (changed.length === 0) return item as Json;
    // What is empty now is left out.
    const filled = changed.filter(([, value]) => value !== '' && JSON.stringify(value) !== '[]');
    const others = Object.entries(item).filter(([key]) => !changed.some(([one]) => one === key));
    return Object.fromEntries([...others, ...filled]) as Json;
  };
}

/** Whether a deprecation is of what an edit removes. */
export function isGoneReference({ bundles, channels }: PackageEdit, item: unknown): boolean {
  const reference = isObject(item) ? item['reference'] : undefined;
  if (!isObject(reference)) return false;
  const name = String(reference['name']);
  return reference['schema'] === 'olm.bundle'
    ? bundles.has(name)
    : reference['schema'] === 'olm.channel' && channels.get(name)?.length === 0;
}

/**
 * A blob of deprecations without those of what is no longer there: they would make the catalog invalid.
 *
 * @returns undefined if none is left; a blob that people wrote without any stays
 */
function withoutReferences(piece: PieceText, format: FileFormat, edit: PackageEdit): PieceText | undefined {
  const isGone = (item: unknown): boolean => isGoneReference(edit, item);
  const list = piece.blob?.value['entries'];
  if (Array.isArray(list) && list.length > 0 && list.every(isGone)) return undefined;
  return withItems(piece, format, ['entries'], (item) => (isGone(item) ? undefined : item));
}

/**
 * Changes only the line if that is enough, so that the blob stays as people wrote it; otherwise writes the blob anew.
 */
function withDefaultChannel(piece: PieceText, format: FileFormat, channel: string | undefined): PieceText {
  if (channel === undefined) return piece;
  const line = /^([ \t]*"?defaultChannel"?:[ \t]*)("?)[A-Za-z0-9._-]+\2/m;
  const replaced = piece.text.replace(
    line,
    (_, key: string, quote: string) => `${key}${quote}${channel}${quote}`,
  );
  const written = pieceOf(replaced);
  if (written.blob?.value['defaultChannel'] === channel) return written;
  const value = { ...piece.blob?.value, defaultChannel: channel } as Json;
  return pieceOf(documentText(piece.text, format, value));
}
