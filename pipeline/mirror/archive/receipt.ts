/**
 * The receipt of an archive: what is in it and where, and what came with the archives
 * before it. The next archive leaves that out.
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parseJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import { isDigest } from '../../oci/digest.ts';

/** Content in the archive. */
export interface ArchivedBlob extends EarlierBlob {
  /** In bytes. */
  readonly size: number;
  /** Offset of the first byte in the concatenated parts of the archive. */
  readonly offset: number;
}

/** A name at the destination, `host/repository:tag` or `host/repository@digest`. */
export interface ArchivedName {
  readonly name: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  /** The digest that the manifest is about, for referrers. */
  readonly subject?: string;
  readonly artifactType?: string;
}

/** Content that one archive brought, and later ones leave out. */
export interface EarlierBlob {
  readonly digest: string;
  /** A repository of the destination that has it, with its host. */
  readonly repository: string;
}

export interface ArchiveReceipt {
  readonly format: 'dev.portolan.archive/v1';
  /** Bytes of a part; the last one may be shorter. */
  readonly part: number;
  /** Bytes of all parts, and of those in front of the tar's own index. */
  readonly size: number;
  readonly content: number;
  readonly names: readonly ArchivedName[];
  readonly blobs: readonly ArchivedBlob[];
  readonly earlier: readonly EarlierBlob[];
  /** Files of the plan beside the parts; absent in archives of before. */
  readonly files?: readonly ArchivedFile[];
}

/** A file of the plan. */
export interface ArchivedFile {
  /** Path below the directory of the archive. */
  readonly name: string;
  readonly digest: string;
}

export const RECEIPT = 'receipt.json';

/** A receipt as JSON, with one name or blob a line. */
export function receiptText(receipt: ArchiveReceipt): string {
  const list = (items: readonly unknown[]): string =>
    items.length === 0 ? '[]' : `[\n    ${items.map((item) => JSON.stringify(item)).join(',\n    ')}\n  ]`;
  const { names, blobs, earlier, files = [], ...rest } = receipt;
  const fields = Object.entries(rest).map(([key, value]) => `  "${key}": ${JSON.stringify(value)}`);
  fields.push(
    `  "files": ${list(files)}`,
    `  "names": ${list(names)}`,
    `  "blobs": ${list(blobs)}`,
    `  "earlier": ${list(earlier)}`,
  );
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** Reads a receipt; archives of before have no list of files. @throws PipelineError `corrupt` */
export function readReceipt(text: string, path: string): ArchiveReceipt {
  const bad = (why: string): PipelineError =>
    new PipelineError('corrupt', `${path} is not a valid archive receipt: ${why}`);
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw bad('not valid JSON');
  }
  if (!isObject(json) || json['format'] !== 'dev.portolan.archive/v1')
    throw bad('its format version is not supported');
  const { part, size, content, names, blobs, earlier, files = [] } = json;
  if (![part, size, content].every(isCount) || part === 0) throw bad('its sizes are not numbers');
  const areValid =
    areEntries(names, { texts: ['name', 'mediaType'], counts: ['size'] }) &&
    areEntries(blobs, { texts: ['repository'], counts: ['size', 'offset'] }) &&
    areEntries(earlier, { texts: ['repository'] }) &&
    areEntries(files, { texts: ['name'] });
  if (!areValid) throw bad('its lists are not valid');
  return json as unknown as ArchiveReceipt;
}

/** Whether a value is a whole number from 0 up. */
function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Whether a value is a list of entries, each with a digest and these fields. */
function areEntries(
  list: unknown,
  { texts, counts = [] }: { readonly texts: readonly string[]; readonly counts?: readonly string[] },
): boolean {
  const isEntry = (value: unknown): boolean =>
    isObject(value) &&
    isDigest(value['digest']) &&
    texts.every((key) => typeof value[key] === 'string') &&
    counts.every((key) => isCount(value[key]));
  return Array.isArray(list) && list.every(isEntry);
}
