/** The edit that an advisory needs, in the text of a basic template; all other lines stay unchanged. */
import { entryChange, isGoneReference } from '../../edit/advisory.ts';
import { type FileText, fileText, joinedText, type PieceText, pieceOf } from '../../edit/file.ts';
import { documentText, insertedAt, withItems } from '../../edit/list.ts';
import type { Package } from '../../fbc/model.ts';
import { isObject } from '../../go/shape.ts';
import type { PackageEdit } from '../../olm/advisory/package-edit.ts';
import type { Json } from '../../yaml/scalar.ts';
import { BASIC_SCHEMA } from './basic.ts';
import type { TemplateText } from './template.ts';

/**
 * The text of a basic template after the edit of a package. Whoever asks compares what it says with the edited catalog.
 *
 * @param ofPackage the package before the edit
 * @returns undefined for a text that has no such template as its first document
 */
export function editedBasic(
  { file: path, bytes }: TemplateText,
  ofPackage: Package,
  edit: PackageEdit,
): string | undefined {
  const file = fileText(path, bytes);
  const at = file.pieces.findIndex(({ blob }) => blob);
  const piece = file.pieces[at];
  if (piece?.blob?.schema !== BASIC_SCHEMA) return undefined;
  const edited = withoutEntries(withMembers(file, piece, { ofPackage, edit }), file, { ofPackage, edit });
  return joinedText({ ...file, pieces: file.pieces.map((one, i) => (i === at ? edited : one)) });
}

interface PackageChange {
  readonly ofPackage: Package;
  readonly edit: PackageEdit;
}

type Fields = Readonly<Record<string, unknown>>;

function entriesOf({ blob }: PieceText): Fields[] {
  const list = blob?.value['entries'];
  return (Array.isArray(list) ? list : []).map((entry) => (isObject(entry) ? entry : {}));
}

/** Changes channels, deprecations and the default channel; no entry of the template moves. */
function withMembers({ format }: FileText, before: PieceText, { ofPackage, edit }: PackageChange): PieceText {
  let piece = before;
  for (const [i, entry] of entriesOf(before).entries()) {
    const path = ['entries', i, 'entries'];
    const channel = entry['schema'] === 'olm.channel' ? edit.channels.get(String(entry['name'])) : undefined;
    // `withoutEntries` removes what is left without entries.
    if (channel && channel.length > 0) piece = withItems(piece, format, path, entryChange(channel));
    if (entry['schema'] === 'olm.deprecations' && !namesOnlyGone(entry, edit))
      piece = withItems(piece, format, path, (item) => (isGoneReference(edit, item) ? undefined : item));
  }
  const { defaultChannel } = edit;
  if (defaultChannel !== undefined)
    piece = withItems(piece, format, ['entries'], (item) =>
      isObject(item) && item['schema'] === 'olm.package' ? ({ ...item, defaultChannel } as Json) : item,
    );
  for (const [name, message] of edit.deprecations) {
    const item = { reference: { schema: 'olm.bundle', name }, message };
    const at = entriesOf(piece).findIndex(({ schema }) => schema === 'olm.deprecations');
    const blob = { schema: 'olm.deprecations', package: ofPackage.name, entries: [item] };
    piece =
      at < 0
        ? withLast(piece, format, ['entries'], blob)
        : withLast(piece, format, ['entries', at, 'entries'], item);
  }
  return piece;
}

/** Whether deprecations are only of what an edit removes. */
function namesOnlyGone({ entries }: Fields, edit: PackageEdit): boolean {
  return Array.isArray(entries) && entries.length > 0 && entries.every((item) => isGoneReference(edit, item));
}

/**
 * A template with one more item in a list. Its other lines stay if it is YAML and the list has one line for each item;
 * otherwise the whole text is written anew.
 *
 * @param piece a template that was read, and so has a value
 */
function withLast(
  piece: PieceText,
  format: FileText['format'],
  path: readonly (string | number)[],
  item: Json,
): PieceText {
  const inserted = format === 'yaml' ? insertedAt(piece.text, path, item) : undefined;
  if (inserted !== undefined) return pieceOf(inserted);
  const value = structuredClone(piece.blob?.value) as Json;
  const list = path.reduce<unknown>(
    (inside, key) => (inside as Record<string | number, unknown>)[key],
    value,
  );
  (list as Json[]).push(item);
  return pieceOf(documentText(piece.text, format, value));
}

/** Removes bundles, by their images, channels without entries and deprecations that say nothing more. */
function withoutEntries(
  piece: PieceText,
  { format }: FileText,
  { ofPackage, edit }: PackageChange,
): PieceText {
  const images = new Set([...edit.bundles].map((name) => ofPackage.bundles.get(name)?.image));
  const isGone = (entry: Fields): boolean => {
    const { schema, name, image } = entry;
    if (schema === 'olm.bundle') return typeof image === 'string' && images.has(image);
    if (schema === 'olm.channel') return edit.channels.get(String(name))?.length === 0;
    return schema === 'olm.deprecations' && namesOnlyGone(entry, edit);
  };
  return withItems(piece, format, ['entries'], (item) => (isObject(item) && isGone(item) ? undefined : item));
}
