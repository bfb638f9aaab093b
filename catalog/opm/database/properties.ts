/**
 * The properties of a bundle out of a database: those of its rows, and those that its
 * dependencies and its manifests become.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/api/api_to_model.go
 */

import type { Property } from '../../fbc/model.ts';
import { encodeBase64 } from '../../go/base64.ts';
import { jsonString, RawJson, withoutSpace } from '../../go/json-text.ts';
import { isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { jsonValue } from './csv-facts.ts';
import { type BundleRow, DatabaseError, type TypedRow } from './rows.ts';

/**
 * In the order in which opm prints them: by type, then by the text of the value, manifests last.
 *
 * @param manifests texts of the bundle's manifests
 * @throws DatabaseError for a value that cannot be read
 */
export function bundleProperties(bundle: BundleRow, pkg: string, manifests: readonly string[]): Property[] {
  const texts: TypedRow[] = [];
  const addGvk = (type: string, row: TypedRow): void => {
    const { group, kind, version } = fieldsOf(bundle, row);
    texts.push({
      type,
      value: `{"group":${quote(group)},"kind":${quote(kind)},"version":${quote(version)}}`,
    });
  };
  for (const row of bundle.properties) {
    if (row.type === 'olm.gvk') addGvk('olm.gvk', row);
    else texts.push({ type: row.type, value: valueText(bundle, row) });
  }
  for (const row of bundle.dependencies) {
    if (row.type === 'olm.gvk') addGvk('olm.gvk.required', row);
    else if (row.type === 'olm.package') texts.push(packageRequired(fieldsOf(bundle, row)));
    else texts.push({ type: row.type, value: valueText(bundle, row) });
  }
  if (!bundle.properties.some(({ type }) => type === 'olm.package')) {
    const value = `{"packageName":${quote(pkg)},"version":${quote(bundle.version)}}`;
    texts.push({ type: 'olm.package', value });
  }
  const distinct = new Map(texts.map((row) => [`${row.type}/${row.value}`, row]));
  const own = [...distinct.values()].sort(
    (a, b) => compareText(a.type, b.type) || compareText(a.value, b.value),
  );
  return [
    ...own.map(({ type, value }) => ({ type, value: new RawJson(value) })),
    ...objectsOf(manifests).map((data) => ({ type: 'olm.bundle.object', value: { data } })),
  ];
}

/** Base64 of each manifest, those that are alike once. */
function objectsOf(manifests: readonly string[]): string[] {
  const encoder = new TextEncoder();
  return [...new Set(manifests.map((text) => encodeBase64(encoder.encode(text))))].sort(compareText);
}

function packageRequired({ packageName, version }: Fields): TypedRow {
  const value = `{"packageName":${quote(packageName)},"versionRange":${quote(version)}}`;
  return { type: 'olm.package.required', value };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of a value of a bundle.
 *
 * @throws DatabaseError for one that is not an object
 */
function fieldsOf({ name }: BundleRow, { type, value }: TypedRow): Fields {
  const found = jsonValue(`a value of ${JSON.stringify(type)} of the bundle ${JSON.stringify(name)}`, value);
  if (isObject(found)) return found;
  throw new DatabaseError(
    `the bundle ${JSON.stringify(name)} has a value of ${JSON.stringify(type)} that is not an object`,
  );
}

/**
 * The text of a value with nothing between its tokens.
 *
 * @throws DatabaseError for one that is not JSON
 */
function valueText({ name }: BundleRow, { type, value }: TypedRow): string {
  jsonValue(`a value of ${JSON.stringify(type)} of the bundle ${JSON.stringify(name)}`, value);
  return withoutSpace(value);
}

function quote(value: unknown): string {
  return jsonString(typeof value === 'string' ? value : '');
}
