/** Changes that people make to a package: a bundle more, something deprecated, the package taken away. */

import type { Bundle, DeprecationEntry, Entry } from '../fbc/model.ts';
import { renderBlob } from '../fbc/render.ts';
import { shellWord } from '../names.ts';
import { emitYaml } from '../yaml/emit.ts';
import type { Json } from '../yaml/scalar.ts';
import { type FileFormat, type FileText, type PieceText, pieceOf } from './file.ts';
import { withItem } from './list.ts';

/** What a bundle's place in a channel says. */
type Place = Partial<Pick<Entry, 'replaces' | 'skips' | 'skipRange'>>;

/** Why a change cannot be made. */
export class EditError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = 'EditError';
    this.hint = hint;
  }
}

/**
 * Adds a bundle to a channel, and to the catalog when it is not there yet. The channel is made
 * when there is none of the name.
 *
 * @returns the files that changed
 * @throws EditError when the catalog lacks the package
 */
export function addBundle(
  files: readonly FileText[],
  bundle: Bundle,
  { channel, place }: { readonly channel: string; readonly place: Place },
): FileText[] {
  const pkg = bundle.package;
  if (!fileWith(files, (blob) => blob.schema === 'olm.package' && blob.name === pkg)) {
    throw noPackage(pkg, `create one with portolan opm init ${shellWord(pkg)} -c ${shellWord(channel)}`);
  }
  const entry = { name: bundle.name, ...place };
  const listed = withEntryAdded(files, entry as Json, {
    holds: (blob) => blob.schema === 'olm.channel' && blob.package === pkg && blob.name === channel,
    make: (item) => ({ schema: 'olm.channel', package: pkg, name: channel, entries: [item] }),
    beside: (blob) => blob.package === pkg || blob.name === pkg,
  });
  const isThere = fileWith(files, (blob) => isBundle(blob, pkg) && blob.name === bundle.name);
  if (isThere) return changedFiles(files, listed);
  const home =
    // Behind the last bundle of the package; if there is none, behind the package's last blob.
    findLast(listed, (blob) => isBundle(blob, pkg)) ??
    findLast(listed, (blob) => blob.package === pkg || blob.name === pkg);
  const grown = listed.map((file) =>
    file === home ? withPiece(file, renderBlob(bundle, file.format)) : file,
  );
  return changedFiles(files, grown);
}

/**
 * Deprecates a package, a channel or a bundle.
 *
 * @returns the files that changed
 * @throws EditError when the catalog lacks the package
 */
export function addDeprecation(
  files: readonly FileText[],
  pkg: string,
  entry: Pick<DeprecationEntry, 'schema' | 'name' | 'message'>,
): FileText[] {
  needPackages(files, [pkg]);
  const { schema, name, message } = entry;
  const reference = { schema, ...(name === '' ? {} : { name }) };
  const done = withEntryAdded(
    files,
    { reference, message },
    {
      holds: (blob) => blob.schema === 'olm.deprecations' && blob.package === pkg,
      make: (item) => ({ schema: 'olm.deprecations', package: pkg, entries: [item] }),
      beside: (blob) => blob.schema === 'olm.package' && blob.name === pkg,
    },
  );
  return changedFiles(files, done);
}

/**
 * The files without everything that belongs to packages of other names.
 *
 * @returns the files that changed
 * @throws EditError when the catalog lacks one of the packages: with a name that is misspelt nothing would stay
 */
export function keepPackages(files: readonly FileText[], names: ReadonlySet<string>): FileText[] {
  needPackages(files, names);
  return withoutBlobs(files, (blob) => packageOf(blob) !== '' && !names.has(packageOf(blob)));
}

/** The files without some documents. @returns the files that changed */
export function withoutBlobs(files: readonly FileText[], isGone: (blob: Written) => boolean): FileText[] {
  const remainingFiles = files.map((file) => {
    const pieces = file.pieces.filter(({ blob }) => !blob || !isGone(blob));
    return pieces.length === file.pieces.length ? file : { ...file, pieces };
  });
  return changedFiles(files, remainingFiles);
}

export type Written = NonNullable<PieceText['blob']>;

/** The package that a blob is of, or belongs to; empty for none. */
export function packageOf(blob: Written): string {
  return blob.schema === 'olm.package' ? blob.name : blob.package;
}

/** Checks that files have packages. @throws EditError for the first one that they lack */
function needPackages(files: readonly FileText[], names: Iterable<string>): void {
  const presentPackages = new Set(
    files.flatMap(({ pieces }) => pieces.map(({ blob }) => blob && packageOf(blob))),
  );
  for (const name of names)
    if (!presentPackages.has(name))
      throw noPackage(name, 'run portolan list packages DIR to list the packages');
}

function noPackage(name: string, hint: string): EditError {
  return new EditError(`no catalog has the package ${JSON.stringify(name)}`, hint);
}

function isBundle(blob: Written, pkg: string): boolean {
  return blob.schema === 'olm.bundle' && blob.package === pkg;
}

function fileWith(files: readonly FileText[], isWanted: (blob: Written) => boolean): FileText | undefined {
  return files.find(({ pieces }) => pieces.some(({ blob }) => blob && isWanted(blob)));
}

function findLast(files: readonly FileText[], isWanted: (blob: Written) => boolean): FileText | undefined {
  return files.findLast(({ pieces }) => pieces.some(({ blob }) => blob && isWanted(blob)));
}

function changedFiles(before: readonly FileText[], after: readonly FileText[]): FileText[] {
  return after.filter((file, i) => file !== before[i]);
}

interface Home {
  /** The blob whose `entries` gets the item. */
  readonly holds: (blob: Written) => boolean;
  /** The blob that is made when there is none. */
  readonly make: (item: Json) => Json;
  /** In whose file it is put. */
  readonly beside: (blob: Written) => boolean;
}

/**
 * Adds an entry to the first blob that `holds` it. If there is none, `make` makes a blob, which goes behind the last one
 * that is `beside` it.
 */
function withEntryAdded(files: readonly FileText[], item: Json, { holds, make, beside }: Home): FileText[] {
  const home = fileWith(files, holds);
  if (!home) {
    const place = findLast(files, beside);
    return files.map((file) =>
      file === place ? withPiece(file, textOfBlob(make(item), file.format)) : file,
    );
  }
  let done = false;
  const pieces = home.pieces.map((piece) => {
    if (done || !piece.blob || !holds(piece.blob)) return piece;
    done = true;
    return withItem(piece, home.format, { key: 'entries', item });
  });
  return files.map((file) => (file === home ? { ...file, pieces } : file));
}

function textOfBlob(value: Json, format: FileFormat): string {
  return format === 'yaml' ? `---\n${emitYaml(value)}` : `${JSON.stringify(value, null, 4)}\n`;
}

/** A file with one more document at its end. */
function withPiece(file: FileText, text: string): FileText {
  const last = file.pieces.at(-1);
  const endsLine = last === undefined || last.text.endsWith('\n');
  const before = endsLine ? file.pieces : [...file.pieces.slice(0, -1), { ...last, text: `${last.text}\n` }];
  return { ...file, pieces: [...before, pieceOf(text)] };
}
