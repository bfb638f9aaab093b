/** Blobs that were not read but made, for what templates and commands write. */

import type { Location } from '../finding.ts';
import { encodeBase64 } from '../go/base64.ts';
import { type Decoded, decodeBlob } from './blob.ts';
import type { SourceDocument } from './document.ts';
import type { Blob } from './model.ts';

/** A document whose parts all have the same location: that of its source. */
export function newDocument(place: Location): SourceDocument {
  const document: SourceDocument = {
    file: place.file,
    line: place.line,
    locate: () => place,
    detached: () => document,
  };
  return document;
}

/** A value as the blob that it is. Only for values whose shape is known to be right. */
export function newBlob(value: Readonly<Record<string, unknown>>, document: SourceDocument): Decoded {
  const decoded = decodeBlob(value, document, []);
  if (!decoded) throw new TypeError('internal error: created an invalid blob');
  return decoded;
}

interface PackageParts {
  readonly name: string;
  readonly defaultChannel: string;
  readonly description: string;
  readonly icon?: { readonly bytes: Uint8Array; readonly mediaType: string };
}

/** A new `olm.package` blob, which is in no file yet. */
export function packageBlob({ name, defaultChannel, description, icon }: PackageParts): Blob {
  const value = {
    schema: 'olm.package',
    name,
    defaultChannel,
    ...(icon ? { icon: { base64data: encodeBase64(icon.bytes), mediatype: icon.mediaType } } : {}),
    description,
  };
  return { schema: value.schema, package: '', name, value, document: newDocument(NOWHERE) };
}

const NOWHERE: Location = { file: '', line: 1, column: 1 };
