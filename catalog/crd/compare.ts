/**
 * What may change in one node of a schema, keyword by keyword. Whatever no comparison
 * knows is unsafe.
 *
 * @see https://github.com/kubernetes-sigs/crdify/tree/main/pkg/validations/property
 */
import { escapeHtml } from '../go/json-marshal.ts';
import { compactJson, sortedKeys } from '../go/json-text.ts';
import { onceFor } from '../go/once.ts';
import { isObject } from '../go/shape.ts';
import { compareText, goQuoted } from '../go/text.ts';
import { jsonText, parseJson } from '../json.ts';
import { formatG } from '../yaml/scalar.ts';
import { bareSchema, keywordKind, ownKeywords, type Schema, sameJson, withoutEmpty } from './schema.ts';

/** A way in which a node has changed. */
interface NodeChange {
  /** Name of the comparison, such as `required`. */
  readonly check: string;
  /** In the words of the cluster's own check. */
  readonly message: string;
  /** Differs for changes that differ in what the message leaves out. */
  readonly detail?: string;
}

export interface CompareOptions {
  /** Whether an enum may grow. */
  readonly enumMayGrow: boolean;
  /** Whether descriptions may change. */
  readonly descriptionMayChange: boolean;
}

interface ComparedBy extends CompareOptions {
  readonly meanings: Meanings;
}

/** The keywords that a node says by itself. */
type Keywords = ReadonlyMap<string, unknown>;

type Comparison = (a: unknown, b: unknown, options: ComparedBy) => string | undefined;

/** What stands behind `max` and `min` in the keywords of bounds. */
const BOUNDS: readonly string[] = ['imum', 'Items', 'Length', 'Properties'];

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['default', compareDefault],
  ['description', compareDescription],
  ['enum', compareEnum],
  ...BOUNDS.map((ending): [string, Comparison] => [
    `max${ending}`,
    compareBound('maximum', numberText(`max${ending}`)),
  ]),
  ...BOUNDS.map((ending): [string, Comparison] => [
    `min${ending}`,
    compareBound('minimum', numberText(`min${ending}`)),
  ]),
  ['nullable', compareNullable],
  ['oneOf', compareOneOf],
  ['pattern', comparePattern],
  ['required', compareRequired],
  ['type', compareType],
]);

/** All changes of a node that are not safe, by name of the comparison. */
export function compareNodes(a: Keywords, b: Keywords, options: ComparedBy): NodeChange[] {
  const { meanings } = options;
  const changes: NodeChange[] = [];
  for (const [check, compare] of COMPARISONS) {
    const message = compare(a.get(check), b.get(check), options);
    if (message !== undefined) changes.push({ check, message });
  }
  const unhandled = [...new Set([...a.keys(), ...b.keys()])]
    .filter(
      (key) =>
        !COMPARISONS.has(key) && meanings.textFor(key, a.get(key)) !== meanings.textFor(key, b.get(key)),
    )
    .map((key): [string, unknown, unknown] => [key, a.get(key), b.get(key)]);
  if (unhandled.length > 0) {
    const detail = unhandled.map(([key, ...values]) => [
      key,
      ...values.map((value) => meanings.textFor(key, value)),
    ]);
    changes.push({ check: 'unhandled', message: unhandledText(unhandled), detail: JSON.stringify(detail) });
  }
  return changes;
}

/** A JSON value as Go represents it in memory. */
export function rawJson(value: unknown): string {
  return escapeHtml(compactJson(value));
}

/** A text in quotes; an empty one for what is not a text. */
export function quote(value: unknown): string {
  return goQuoted(typeof value === 'string' ? value : '');
}

/** Compares defaults: any change is unsafe. */
function compareDefault(a: unknown, b: unknown): string | undefined {
  if (a === undefined && b === undefined) return undefined;
  if (a === undefined) return `default added when there was none previously : ${quote(rawJson(b))}`;
  if (b === undefined) return `default value removed : ${quote(rawJson(a))}`;
  return sameJson(a, b) ? undefined : `default value changed : ${quote(rawJson(a))} -> ${quote(rawJson(b))}`;
}

function compareDescription(a: unknown, b: unknown, options: CompareOptions): string | undefined {
  if (options.descriptionMayChange || a === b) return undefined;
  return `description changed : ${quote(a)} -> ${quote(b)}`;
}

/** The members of the first list that the second lacks, as sorted texts. */
export function membersNotIn(from: unknown, others: unknown): string[] {
  const otherTexts = new Set(texts(others));
  return [...new Set(texts(from))].filter((text) => !otherTexts.has(text)).sort(compareText);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(rawJson) : [];
}

/** Compares the values of an enum. The messages are OLM's, with its spaces before colons. */
function compareEnum(before: unknown, after: unknown, options: CompareOptions): string | undefined {
  const added = membersNotIn(after, before);
  if (before === undefined && added.length > 0) {
    return `enum constraint added when there was none previously : [${added.join(' ')}]`;
  }
  const removed = membersNotIn(before, after);
  if (removed.length > 0) return `allowed enum values removed : [${removed.join(' ')}]`;
  return added.length > 0 && !options.enumMayGrow
    ? `allowed enum values added : [${added.join(' ')}]`
    : undefined;
}

/** Prints the value of a bound as Go does: `maximum` and `minimum` are floats there, all others integers. */
export function numberText(keyword: string): (value: unknown) => string {
  return /^m(?:ax|in)imum$/.test(keyword) ? (value) => formatG(Number(value)) : String;
}

/**
 * Makes the comparison of a bound: to add one, or to make it narrower, is unsafe. OLM writes `maximum` or `minimum` for
 * all of them.
 */
function compareBound(word: 'maximum' | 'minimum', print: (value: unknown) => string): Comparison {
  return (a, b) => {
    if (b === undefined) return undefined;
    if (a === undefined) return `${word} constraint added when there was none previously : ${print(b)}`;
    const change = `${print(a)} -> ${print(b)}`;
    if (word === 'maximum') return Number(b) < Number(a) ? `maximum decreased : ${change}` : undefined;
    return Number(b) > Number(a) ? `minimum increased : ${change}` : undefined;
  };
}

function compareNullable(a: unknown, b: unknown): string | undefined {
  if ((a === true) === (b === true)) return undefined;
  return b === true ? 'nullable added : false -> true' : 'nullable removed : true -> false';
}

/**
 * Compares the alternatives of `oneOf`: to add or to remove one is unsafe. Another spelling of the same meaning is not
 * a change.
 */
function compareOneOf(before: unknown, after: unknown, { meanings }: ComparedBy): string | undefined {
  if (meanings.textFor('oneOf', before) === meanings.textFor('oneOf', after)) return undefined;
  const [a, b] = [alternatives(before), alternatives(after)];
  const added = membersNotIn(b, a);
  const removed = membersNotIn(a, b);
  if (a.length === 0 && added.length > 0) {
    return `oneOf constraint added when there was none previously: [${added.join(' ')}]`;
  }
  if (removed.length > 0) return `allowed oneOf schemas removed: [${removed.join(' ')}]`;
  return added.length > 0 ? `allowed oneOf schemas added: [${added.join(' ')}]` : undefined;
}

/** What describes an alternative, and does not restrict it. */
const DESCRIBING = ['description', 'title', 'example', 'externalDocs'];

/** The alternatives of `oneOf`, without what only describes them. */
function alternatives(oneOf: unknown): readonly unknown[] {
  if (!Array.isArray(oneOf)) return [];
  return oneOf.map((schema) => {
    const bare = bareSchema(schema);
    if (!isObject(bare)) return bare;
    return Object.fromEntries(Object.entries(bare).filter(([key]) => !DESCRIBING.includes(key)));
  });
}

function comparePattern(a: unknown, b: unknown): string | undefined {
  if (a === b) return undefined;
  const verb = a === undefined ? 'added' : b === undefined ? 'removed' : 'changed';
  return `pattern ${verb} : ${quote(a)} -> ${quote(b)}`;
}

function compareRequired(a: unknown, b: unknown): string | undefined {
  const added = membersNotIn(b, a).map((text) => String(parseJson(text)));
  return added.length > 0 ? `new required fields: [${added.join(' ')}]` : undefined;
}

function compareType(a: unknown, b: unknown): string | undefined {
  return a === b ? undefined : `type changed : ${quote(a)} -> ${quote(b)}`;
}

/**
 * Changes that no comparison knows, in the words of OLM v1: Go's names of the fields,
 * and what they held.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/preflights/crdupgradesafety/crdupgradesafety.go
 */
const GO_FIELDS: ReadonlyMap<string, string> = new Map([
  ['id', 'ID'],
  ['$schema', 'Schema'],
  ['$ref', 'Ref'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-embedded-resource', 'XEmbeddedResource'],
  ['x-kubernetes-int-or-string', 'XIntOrString'],
  ['x-kubernetes-list-map-keys', 'XListMapKeys'],
  ['x-kubernetes-list-type', 'XListType'],
  ['x-kubernetes-map-type', 'XMapType'],
  ['x-kubernetes-validations', 'XValidations'],
]);

/** Fields that Go holds by pointer. */
const POINTERS: ReadonlySet<string> = new Set([
  '$ref',
  'multipleOf',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]);
const FALSE_WHEN_ABSENT: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'uniqueItems',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
]);
const TEXTS: ReadonlySet<string> = new Set(['id', '$schema', 'format', 'title']);

/**
 * OLM's message about changed keywords that it does not compare.
 *
 * @param changes keywords with their values before and after; undefined for none
 */
function unhandledText(changes: readonly (readonly [string, unknown, unknown])[]): string {
  const details = changes
    .map(([key, before, after]): [string, string] => [
      goField(key),
      `${goField(key)} ${goValue(key, before)} -> ${goValue(key, after)}`,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `unhandled changes found (${details.map(([, text]) => text).join('; ')})`;
}

function goField(key: string): string {
  return GO_FIELDS.get(key) ?? `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

/** A value as Go prints it: an absent one is the zero value of its field. */
function goValue(key: string, value: unknown): string {
  if (value === undefined) return FALSE_WHEN_ABSENT.has(key) ? 'false' : TEXTS.has(key) ? '""' : 'nil';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return `[]string{${value.map((item) => JSON.stringify(item)).join(', ')}}`;
  }
  if (typeof value === 'object') return '<complex value>';
  return `${POINTERS.has(key) ? '&' : ''}${jsonText(value)}`;
}

// Whether values in schemas mean the same.

/**
 * Gives each value of a keyword a short text, the same for all values that mean the same. Each object is read once,
 * however many objects around it are compared.
 */
export class Meanings {
  readonly #numbers = new Map<string, number>();
  /** How many characters it has read. */
  size = 0;

  /** The text of a keyword's value; empty for a keyword that is not written. */
  textFor(key: string, value: unknown): string {
    if (value === undefined) return '';
    switch (keywordKind(key, value)) {
      case 'schema':
        return this.#schema(value);
      case 'list':
        return this.#numbered(`[${(value as unknown[]).map((one) => this.#schema(one)).join()}]`);
      case 'named':
        return this.#members(value as object, (one) => this.#schema(one));
      default:
        return this.#value(withoutEmpty(key, value));
    }
  }

  readonly #ofSchema = onceFor((schema: Schema) =>
    this.#numbered(
      [...ownKeywords(schema, [])].map(([key, one]) => `${key}:${this.textFor(key, one)}`).join(),
    ),
  );

  readonly #ofObject = onceFor((value: object) =>
    Array.isArray(value)
      ? this.#numbered(`[${value.map((one) => this.#value(one)).join()}]`)
      : this.#members(value, (one) => this.#value(one)),
  );

  /** The text of a schema, in which what means the same as nothing is left out. */
  #schema(value: unknown): string {
    return isObject(value) ? this.#ofSchema(value) : this.#value(value);
  }

  #value(value: unknown): string {
    return isObject(value) || Array.isArray(value) ? this.#ofObject(value) : compactJson(value);
  }

  /** The text of an object. Keys in their order, for two objects mean the same in any order. */
  #members(value: object, meaning: (member: unknown) => string): string {
    const members = value as Readonly<Record<string, unknown>>;
    return this.#numbered(
      `{${sortedKeys(value)
        .map((key) => `${JSON.stringify(key)}:${meaning(members[key])}`)
        .join()}}`,
    );
  }

  /** A number that stands for a text. No JSON value begins with its sign. */
  #numbered(text: string): string {
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    if (number === this.#numbers.size) {
      this.#numbers.set(text, number);
      this.size += text.length;
    }
    return `#${number}`;
  }
}

/** Most characters that are kept for the next comparison. */
const MOST_KEPT = 4 * 1024 * 1024;

let shared = new Meanings();

/** The meanings for a comparison: with those of earlier ones, because most releases repeat most of the one before. */
export function meaningsForComparison(): Meanings {
  if (shared.size > MOST_KEPT) shared = new Meanings();
  return shared;
}
