/**
 * Blobs of schemas that are not OLM's, as opm's experimental registry API answers them.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/meta_key.go
 */
import { metaFile } from '../../fbc/cache/files.ts';
import type { Blob } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';

/** That a question is not one that opm answers; the message is the one that opm gives. */
export class BadQuestion extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadQuestion';
  }
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/**
 * Blobs of a schema and a package, in the order of opm's cache. A blob that is there twice is answered once.
 *
 * @param pkg the empty string for blobs that belong to no package
 * @throws BadQuestion for an empty schema, and for names that opm's cache cannot have
 */
export function customSchemas(others: Iterable<Blob>, schema: string, pkg: string): Blob['value'][] {
  if (schema === '') throw new BadQuestion('schema is required');
  for (const [name, value] of Object.entries({ schema, packageName: pkg })) {
    if (value === '' || NAME.test(value)) continue;
    throw new BadQuestion(
      `invalid custom schema query: invalid ${name} ${JSON.stringify(value)}: must match ${NAME.source}`,
    );
  }
  const found = [...others].filter((blob) => blob.schema === schema && blob.package === pkg);
  const files = new Map(found.map((blob) => [metaFile(blob).path, blob.value]));
  return [...files].sort(([a], [b]) => compareText(a, b)).map(([, value]) => value);
}

/** A value of `google.protobuf.Value`. */
type StructValue =
  | { readonly null_value: 'NULL_VALUE' }
  | { readonly number_value: number }
  | { readonly string_value: string }
  | { readonly bool_value: boolean }
  | { readonly struct_value: Struct }
  | { readonly list_value: { readonly values: readonly StructValue[] } };

/** An object as `google.protobuf.Struct` has it on its way: a map is a list of entries. */
export interface Struct {
  readonly fields: readonly { readonly key: string; readonly value: StructValue }[];
}

/** An object of JSON in protobuf's terms. */
export function structOf(value: Readonly<Record<string, unknown>>): Struct {
  return { fields: Object.entries(value).map(([key, each]) => ({ key, value: structValue(each) })) };
}

/** A value of JSON in protobuf's terms. Texts there are UTF-8, which has no halves of surrogate pairs. */
function structValue(value: unknown): StructValue {
  if (typeof value === 'string') return { string_value: value.toWellFormed() };
  if (typeof value === 'number') return { number_value: value };
  if (typeof value === 'boolean') return { bool_value: value };
  if (Array.isArray(value)) return { list_value: { values: value.map(structValue) } };
  if (typeof value === 'object' && value !== null)
    return { struct_value: structOf(value as Readonly<Record<string, unknown>>) };
  return { null_value: 'NULL_VALUE' };
}
