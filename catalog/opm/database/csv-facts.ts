/**
 * What tables of older schemas lack, out of the ClusterServiceVersion: versions, required APIs
 * and images came into the database one after another.
 *
 * @see https://github.com/operator-framework/operator-registry/tree/v1.73.0/pkg/sqlite/migrations
 */
import { requiredApis } from '../../bundle/api.ts';
import { versionOf } from '../../bundle/properties.ts';
import { type BundleObject, BundleRefusal } from '../../bundle/registry-bundle.ts';
import { relatedImagesOf } from '../../bundle/render.ts';
import { newDocument } from '../../fbc/new-blob.ts';
import { JsonError, JsonReader, TooDeep } from '../../go/json.ts';
import { jsonString } from '../../go/json-text.ts';
import { isObject } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { DatabaseError, type TypedRow } from './rows.ts';

/** An API as a row of `properties` or `dependencies` names it. */
export function apiRow(group: string, version: string, kind: string): TypedRow {
  const value = `{"group":${jsonString(group)},"kind":${jsonString(kind)},"version":${jsonString(version)}}`;
  return { type: 'olm.gvk', value };
}

interface CsvFacts {
  readonly version: string;
  readonly skipRange: string;
  readonly required: readonly TypedRow[];
  readonly images: readonly string[];
}

/**
 * What a ClusterServiceVersion says; what does not fit its type counts as not there.
 *
 * @param csv JSON text
 * @throws DatabaseError when it is not valid JSON
 */
export function csvFacts(name: string, csv: string): CsvFacts {
  const read = jsonValue(`the ClusterServiceVersion of the bundle ${JSON.stringify(name)}`, csv);
  const value = isObject(read) ? read : {};
  const document = newDocument({ file: name, line: 1, column: 1 });
  const object: BundleObject = { group: '', version: '', kind: '', name, value, document };
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const skipRange = annotations['olm.skipRange'];
  return {
    version: unlessRefused(() => versionOf({ csv: object }).version, ''),
    skipRange: typeof skipRange === 'string' ? skipRange : '',
    required: unlessRefused(
      () => requiredApis({ csv: object }).map(({ group, version, kind }) => apiRow(group, version, kind)),
      [],
    ),
    images: unlessRefused(() => relatedImagesOf(object, '').map(({ image }) => image), []),
  };
}

/** What was read; another value in its place where a BundleRefusal ends the reading. */
function unlessRefused<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BundleRefusal) return otherwise;
    throw error;
  }
}

// The manifests of a bundle in a database: JSON objects one behind another.

/** The texts of the objects, as they are spelled. @throws DatabaseError */
export function manifestTexts(bundle: string, text: string): string[] {
  const reader = new JsonReader(text);
  const texts: string[] = [];
  try {
    for (let from = 0; reader.next(); from = reader.offset)
      texts.push(text.slice(from, reader.offset).trim());
    return texts;
  } catch (error) {
    throw jsonError(error, `the manifests of the bundle ${JSON.stringify(bundle)}`);
  }
}

/** The first ClusterServiceVersion of manifests. */
export function csvAmong(texts: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  for (const text of texts) {
    const value: unknown = parseJson(text);
    if (isObject(value) && value['kind'] === 'ClusterServiceVersion') return value;
  }
  return undefined;
}

/** A value of a column. @throws DatabaseError for what is not JSON */
export function jsonValue(what: string, text: string): unknown {
  const reader = new JsonReader(text);
  try {
    const read = reader.next();
    if (read && text.slice(reader.offset).trim() === '') return read.value;
  } catch (error) {
    throw jsonError(error, what);
  }
  throw new DatabaseError(
    `${what} is not valid JSON: ${text.trim() === '' ? 'it is empty' : 'content follows'}`,
  );
}

/** The error to throw for one of reading JSON; any other error comes back as it is. */
function jsonError(error: unknown, what: string): unknown {
  if (error instanceof TooDeep) return new DatabaseError(`${what} is ${error.message}`);
  return error instanceof JsonError
    ? new DatabaseError(`${what} is not valid JSON: ${error.message}`)
    : error;
}
