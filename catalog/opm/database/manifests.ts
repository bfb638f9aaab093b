/** The manifests of a bundle in a database: JSON objects one behind another. */
import { JsonError, JsonReader } from '../../go/json.ts';
import { isObject } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { DatabaseError } from './rows.ts';

/** Deepest nesting of a manifest. */
const DEPTH = 10_000;

/** The texts of the objects, as they are spelled. @throws DatabaseError */
export function manifestTexts(bundle: string, text: string): string[] {
  const reader = new JsonReader(text, DEPTH);
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
  const reader = new JsonReader(text, DEPTH);
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

function jsonError(error: unknown, what: string): unknown {
  return error instanceof JsonError
    ? new DatabaseError(`${what} is not valid JSON: ${error.message}`)
    : error;
}
