/** What settings of an operator may hold: a small part of JSON Schema, as data. */
import { repeatedPlaces } from '../go/grouped.ts';
import { isObject, type Path } from '../go/shape.ts';
import { jsonText } from '../json.ts';
import { nearest } from '../spelling.ts';

export type SettingsSchema =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'text'; readonly oneOf?: readonly string[] }
  | {
      readonly kind: 'list';
      readonly items: SettingsSchema;
      /** Whether it must have an item. */
      readonly isFilled?: true;
      /** Whether no item may be there twice. */
      readonly isUnique?: true;
    }
  | {
      readonly kind: 'mapping';
      readonly fields: Readonly<Record<string, SettingsSchema>>;
      readonly required?: readonly string[];
      /** Whether no other keys are allowed. */
      readonly isClosed?: true;
    };

interface SettingsDefect {
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
}

/** Everything in a value that a schema does not allow. */
export function settingsDefects(value: unknown, schema: SettingsSchema, path: Path = []): SettingsDefect[] {
  switch (schema.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? [] : [wrongValue(path, value, 'true or false')];
    case 'text':
      return textDefects(value, schema, path);
    case 'list':
      return listDefects(value, schema, path);
    case 'mapping':
      return mappingDefects(value, schema, path);
  }
}

/** The schemas of one kind. */
type Of<K extends SettingsSchema['kind']> = Extract<SettingsSchema, { kind: K }>;

function textDefects(value: unknown, { oneOf }: Of<'text'>, path: Path): SettingsDefect[] {
  if (typeof value !== 'string') return [wrongValue(path, value, oneOf ? oneOf.join(' or ') : 'text')];
  return oneOf && !oneOf.includes(value) ? [wrongValue(path, value, oneOf.join(' or '))] : [];
}

/** Defects of a list by its schema: no value where one must be, a value that is there twice, and those of its items. */
function listDefects(
  value: unknown,
  { items, isFilled, isUnique }: Of<'list'>,
  path: Path,
): SettingsDefect[] {
  if (!Array.isArray(value)) return [wrongValue(path, value, 'a list')];
  if (isFilled && value.length === 0) return [wrongValue(path, value, 'a list with at least one value')];
  const [again] = isUnique ? repeatedPlaces(value.map(jsonText)) : [];
  const repeated = again === undefined ? [] : [wrongValue([...path, again], value[again], 'each value once')];
  return [...value.flatMap((item, i) => settingsDefects(item, items, [...path, i])), ...repeated];
}

/** Defects of a mapping by its schema: missing and unknown keys, and the defects of its fields. */
function mappingDefects(value: unknown, schema: Of<'mapping'>, path: Path): SettingsDefect[] {
  const { fields, required = [], isClosed } = schema;
  if (!isObject(value)) return [wrongValue(path, value, 'a mapping')];
  const missing = required.filter((key) => !(key in value));
  const unknown = isClosed ? Object.keys(value).filter((key) => !Object.hasOwn(fields, key)) : [];
  return [
    ...missing.map((key) => ({ path, message: `${nameOf(path)}: ${key} is missing`, hint: `${key}: …` })),
    ...unknown.map((key) => unknownKey([...path, key], Object.keys(fields))),
    ...Object.entries(fields).flatMap(([key, field]) =>
      Object.hasOwn(value, key) ? settingsDefects(value[key], field, [...path, key]) : [],
    ),
  ];
}

/** The defect of a key that the schema does not have, with the most similar one as a hint. */
function unknownKey(path: Path, known: readonly string[]): SettingsDefect {
  const key = String(path.at(-1));
  const meant = nearest(key, known);
  const hint = meant === undefined ? `valid keys: ${known.join(', ')}` : `did you mean ${meant}?`;
  return { path, message: `unknown key ${JSON.stringify(nameOf(path))}`, hint };
}

/** The defect of a value that is not what the schema expects. */
function wrongValue(path: Path, value: unknown, expected: string): SettingsDefect {
  const key = path.findLast((step) => typeof step === 'string');
  const hint = key === undefined ? `expected ${expected}` : `${key}: ${expected}`;
  return { path, message: `${nameOf(path)}: found ${foundText(value)}, expected ${expected}`, hint };
}

/** A value in words: the kind of a collection, and any other value as it is. */
function foundText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return isObject(value) ? 'a mapping' : jsonText(value);
}

/** `fbc.catalog_mapping[0].type`; of the document itself `the file`. */
function nameOf(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}
