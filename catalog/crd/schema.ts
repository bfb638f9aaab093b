/**
 * Schemas of CRDs as flat lists of nodes, which is how they are
 * compared: node by node, without what lies below.
 *
 * @see https://github.com/kubernetes-sigs/crdify/blob/main/pkg/validations/util.go
 */

import { compactJson } from '../go/json-text.ts';
import { JSON_SCHEMA } from '../go/kubernetes-types.ts';
import { isObject, itemsOf } from '../go/shape.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Names the places below a schema. @see CURRENT. `text` is the place of the schema itself, such as `^.spec` */
interface Dialect {
  readonly items: (text: string) => string;
  readonly index: (text: string, keyword: string, index: number) => string;
  readonly only: (text: string, keyword: string) => string;
  readonly named: (text: string, keyword: string, name: string) => string;
  readonly additional: (text: string) => string;
}

/** Of the current checks. */
const CURRENT: Dialect = {
  items: (text) => `${text}.items`,
  index: (text, keyword, index) => `${text}.${keyword}[${index}]`,
  only: (text, keyword) => `${text}.${keyword}`,
  named: (text, keyword, name) => `${text}.${keyword}[${name}]`,
  additional: (text) => `${text}.additionalProperties`,
};

/** Of the checks of OLM v1 up to 1.3: what is combined by anyOf and the like overwrites what it stands in. */
const LEGACY: Dialect = {
  items: (text) => `${text}[*]`,
  index: (text, keyword, index) => (keyword === 'items' ? `${text}[${index}]` : text),
  only: (text) => text,
  named: (text) => text,
  additional: (text) => `${text}[*]`,
};

/** Every node of a schema by its place, as the checks of OLM v1 up to 1.3 print it; none of a version without a schema. */
export function flattenSchema(schema: unknown): ReadonlyMap<string, Schema> {
  const nodes = new Map<string, Schema>();
  const visit = (value: unknown, text: string): void => {
    if (!isObject(value)) return;
    nodes.set(text, value);
    for (const child of childSchemas(value, LEGACY, text)) visit(child.schema, child.text);
  };
  visit(schema, '^');
  return nodes;
}

/** A place in two schemas: the node of the second is missing where that has none. */
export interface NodePair {
  /** The place as the tools print it, such as `^.spec.items`. */
  readonly text: string;
  readonly older: Schema;
  readonly newer: Schema | undefined;
  /** Whether the second has no node above it either. */
  readonly isBelowGone: boolean;
}

/** Every node of a schema with its counterpart in another. Parts that are the same object are passed over. */
export function changedNodes(older: unknown, newer: unknown): NodePair[] {
  const pairs: NodePair[] = [];
  const visit = (was: unknown, is: unknown, text: string, isBelowGone = false): void => {
    if (was === is || !isObject(was)) return;
    const other = isObject(is) ? is : undefined;
    pairs.push({ text, older: was, newer: other, isBelowGone });
    for (const child of childSchemas(was, CURRENT, text)) {
      if (isObject(child.schema))
        visit(child.schema, other && childAt(other, child.path), child.text, !other);
    }
  };
  visit(older, newer, '^');
  return pairs;
}

/** The child of a schema at the path of another's child, in a list only where that is in one. */
function childAt(schema: Schema, [keyword = '', name]: readonly string[]): unknown {
  const value = schema[keyword];
  if (name === undefined) return value;
  if (LISTS.has(keyword)) return Array.isArray(value) ? value[Number(name)] : undefined;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const LISTS: ReadonlySet<string> = new Set(['items', 'allOf', 'anyOf', 'oneOf']);

interface Child {
  readonly path: readonly string[];
  readonly text: string;
  readonly schema: unknown;
}

/**
 * The schemas directly below a schema, by keyword. A keyword that is not written has none. The order counts in `LEGACY`, where
 * several have one place and the last one stays.
 */
function childSchemas(schema: Schema, dialect: Dialect, text: string): readonly Child[] {
  const found: Child[] = [];
  const add = (path: readonly string[], place: string, child: unknown): void => {
    if (child !== undefined) found.push({ path, text: place, schema: child });
  };
  const { items } = schema;
  for (const [i, item] of itemsOf(items).entries())
    add(['items', `${i}`], dialect.index(text, 'items', i), item);
  if (!Array.isArray(items)) add(['items'], dialect.items(text), items);
  for (const keyword of LISTS_OF_SCHEMAS) {
    for (const [i, item] of itemsOf(schema[keyword]).entries())
      add([keyword, `${i}`], dialect.index(text, keyword, i), item);
  }
  add(['not'], dialect.only(text, 'not'), schema['not']);
  for (const [name, property] of entriesOf(schema['properties']))
    add(['properties', name], propertyPlace(text, name), property);
  add(['additionalProperties'], dialect.additional(text), schema['additionalProperties']);
  for (const keyword of NAMED_SCHEMAS) {
    for (const [name, property] of entriesOf(schema[keyword]))
      add([keyword, name], dialect.named(text, keyword, name), property);
  }
  add(['additionalItems'], dialect.only(text, 'additionalItems'), schema['additionalItems']);
  return found;
}

/** Go prints a property without a name as an index without a number. */
function propertyPlace(text: string, name: string): string {
  return name === '' ? `${text}[]` : `${text}.${name}`;
}

const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf'];
const NAMED_SCHEMAS = ['patternProperties', 'definitions', 'dependencies'];

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** Booleans that may be absent, as opposed to those that are false when they are. */
const OPTIONAL_BOOLEANS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'x-kubernetes-preserve-unknown-fields',
]);

/** Keywords for which an empty string differs from a missing one. */
const OPTIONAL_TEXTS: ReadonlySet<string> = new Set([
  '$ref',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]);

/**
 * What a node says by itself: the keywords that Kubernetes knows, with what means the
 * same as nothing left out.
 *
 * @param childKeywords keywords to leave out: what is below the node is compared there
 */
export function ownKeywords(schema: Schema, childKeywords: readonly string[]): Map<string, unknown> {
  const keys = Object.keys(schema).filter(
    (key) => RANK.has(key) && !childKeywords.includes(key) && !isNothing(key, schema[key]),
  );
  keys.sort((a, b) => (RANK.get(a) ?? 0) - (RANK.get(b) ?? 0));
  return new Map(keys.map((key) => [key, schema[key]]));
}

/** The order of the fields that Kubernetes knows; with it equal schemas give equal texts. */
const RANK: ReadonlyMap<string, number> = new Map(Object.keys(JSON_SCHEMA.fields).map((key, i) => [key, i]));

/**
 * Whether Kubernetes takes a keyword with this value for one that is not written. `default` and `example` hold any value, and
 * `false` or an empty text there says something. `properties` are compared one by one.
 */
function isNothing(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (key === 'default' || key === 'example') return false;
  if (value === '') return !OPTIONAL_TEXTS.has(key);
  if (value === false) return !OPTIONAL_BOOLEANS.has(key);
  if (isObject(value)) return NAMED_SCHEMAS.includes(key) && Object.keys(value).length === 0;
  return Array.isArray(value) && value.length === 0;
}

/** Keywords that hold one schema; some of them a boolean instead. */
const ONE_SCHEMA: ReadonlySet<string> = new Set(['items', 'not', 'additionalProperties', 'additionalItems']);

/** A schema without what means the same as nothing, at any depth. */
export function bareSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  return Object.fromEntries([...ownKeywords(schema, [])].map(([key, value]) => [key, bareValue(key, value)]));
}

/** The value of a keyword, in which schemas lack what means the same as nothing. */
function bareValue(key: string, value: unknown): unknown {
  switch (keywordKind(key, value)) {
    case 'schema':
      return bareSchema(value);
    case 'list':
      return itemsOf(value).map(bareSchema);
    case 'named':
      return Object.fromEntries(entriesOf(value).map(([name, child]) => [name, bareSchema(child)]));
    default:
      return withoutEmpty(key, value);
  }
}

/** Whether a keyword's value is a schema, a list or a map of them; undefined for other values. */
export function keywordKind(key: string, value: unknown): 'schema' | 'list' | 'named' | undefined {
  const isList = Array.isArray(value);
  if (ONE_SCHEMA.has(key) && !isList) return 'schema';
  if (isList && (LISTS_OF_SCHEMAS.includes(key) || key === 'items')) return 'list';
  return isObject(value) && (NAMED_SCHEMAS.includes(key) || key === 'properties') ? 'named' : undefined;
}

/** The value of a keyword that is not a schema. Two of these hold objects, whose empty fields Kubernetes leaves out. */
export function withoutEmpty(key: string, value: unknown): unknown {
  const filled = (object: unknown): object =>
    Object.fromEntries(entriesOf(object).filter(([, member]) => member !== '' && member !== null));
  if (key === 'externalDocs') return filled(value);
  return key === 'x-kubernetes-validations' ? itemsOf(value).map(filled) : value;
}

/** Whether two keywords' values are the same JSON. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && compactJson(a) === compactJson(b));
}
