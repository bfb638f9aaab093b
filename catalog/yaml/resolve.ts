/**
 * What a scalar of the tree is: its tag and its text together decide.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/resolve.go
 */

import { isObject, nameLike, type Shape, type StructShape } from '../go/shape.ts';
import { compareText, goQuoted } from '../go/text.ts';
import {
  formatFloat32,
  formatG,
  integerText,
  keyText,
  kindOfPlain,
  resolvePlain,
  type ScalarKind,
} from './scalar.ts';
import { YamlError, type YamlMapping, type YamlNode, type YamlScalar } from './tree.ts';

export type ScalarValue = null | boolean | number | string;

interface ResolvedScalar {
  readonly kind: ScalarKind;
  readonly value: ScalarValue;
}

/** The value of a scalar; infinities and NaN come back as such, though JSON has no place for them. */
export function scalarValue(node: YamlScalar): ScalarValue {
  if (node.tag !== '') return resolveTagged(node).value;
  return node.plain ? resolvePlain(node.text) : node.text;
}

/** What a scalar is, with its value. */
export function resolveScalar(node: YamlScalar): ResolvedScalar {
  if (node.tag !== '') return resolveTagged(node);
  const { text } = node;
  return node.plain ? { kind: kindOfPlain(text), value: resolvePlain(text) } : { kind: 'str', value: text };
}

/**
 * The name that a key gets in JSON; undefined for a collection, for null and for an
 * integer beyond an int64, which get none.
 */
export function keyName(key: YamlNode): string | undefined {
  const node = key.kind === 'alias' ? key.target : key;
  if (node.kind !== 'scalar') return undefined;
  const value = scalarValue(node);
  return typeof value === 'string' ? value : keyText(resolveScalar(node), node.text);
}

const CORE = 'tag:yaml.org,2002:';

/** Whether a key says that the mappings behind it are to be laid into this one. */
export function isMerge(key: YamlNode): boolean {
  return key.kind === 'scalar' && key.text === '<<' && (key.plain || key.tag === `${CORE}merge`);
}

/** The value of a scalar with a tag. */
function resolveTagged(node: YamlScalar): ResolvedScalar {
  const { text, tag } = node;
  const name = tag.startsWith(CORE) ? tag.slice(CORE.length) : '';
  switch (name) {
    case 'binary':
      return { kind: 'str', value: binaryText(node) };
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'timestamp':
      return resolveAs(node, name);
    default:
      return { kind: 'str', value: text };
  }
}

/** The value of a scalar as the kind that its tag names. @throws YamlError if its text is not of that kind */
function resolveAs(node: YamlScalar, wanted: ScalarKind): ResolvedScalar {
  const { text } = node;
  const found: ResolvedScalar = { kind: kindOfPlain(text), value: resolvePlain(text) };
  if (found.kind === wanted) return found;
  // Only what fits an int64 is made a float.
  if (wanted === 'float' && found.kind === 'int' && keyText(found, text) !== undefined) {
    return { kind: 'float', value: found.value };
  }
  const shown = found.kind === 'timestamp' ? 'str' : found.kind;
  throw new YamlError(
    `"${text}" is not a valid ${wanted}`,
    node.start,
    `yaml: cannot decode !!${shown} \`${text}\` as a !!${wanted}`,
  );
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The text that a !!binary scalar stands for.
 *
 * @throws YamlError when it is not base64
 */
function binaryText(node: YamlScalar): string {
  const compact = node.text.replaceAll(/[\r\n]/g, '');
  if (!BASE64.test(compact)) {
    throw new YamlError(
      'a !!binary value must be base64',
      node.start,
      'yaml: !!binary value contains invalid base64 data',
    );
  }
  return atob(compact).replaceAll(UTF8, decodeSequence);
}

/** Bytes beyond ASCII in a text whose units are bytes: well-formed sequences of UTF-8, and single bytes that are none. */
const UTF8 =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** Go puts U+FFFD for each byte that is not UTF-8, where a TextDecoder would put one for several. */
function decodeSequence(bytes: string): string {
  if (bytes.length === 1) return '\ufffd';
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
}

// Nodes as Go's `%#v` prints what go-yaml decodes them into, for the messages in which
// the Go tools show a value: `map[interface {}]interface {}{".Values.x":interface {}(nil)}`
// is what a template that nobody rendered looks like.
//
// @see https://pkg.go.dev/fmt

/** A node as Go prints its value with `%#v`. */
export function goSyntax(node: YamlNode): string {
  switch (node.kind) {
    case 'alias':
      return goSyntax(node.target);
    case 'scalar':
      return scalarSyntax(node);
    case 'sequence':
      return `[]interface {}{${node.items.map(goSyntax).join(', ')}}`;
    case 'mapping': {
      const entries = new Map<string, string>();
      collect(node, entries);
      const text = [...entries]
        .sort(([a], [b]) => compareKeys(a, b))
        .map(([key, value]) => `${key}:${value}`);
      return `map[interface {}]interface {}{${text.join(', ')}}`;
    }
  }
}

/**
 * Adds the pairs of a mapping to `entries`. go-yaml merges at the place of the key: later pairs win, and of several
 * sources the first.
 */
function collect(mapping: YamlMapping, entries: Map<string, string>): void {
  for (const { key, value } of mapping.pairs) {
    if (!isMerge(key)) {
      entries.set(goSyntax(key), goSyntax(value));
      continue;
    }
    for (const source of value.kind === 'sequence' ? value.items.toReversed() : [value]) {
      const merged = source.kind === 'alias' ? source.target : source;
      if (merged.kind === 'mapping') collect(merged, entries);
    }
  }
}

const NIL = 'interface {}(nil)';

/** Go puts nil first; how it orders other types among each other differs between programs. */
function compareKeys(a: string, b: string): number {
  const rank = (key: string): number => (key === NIL ? 0 : key.startsWith('"') ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  // Without the closing quotes: a text comes before all that it begins.
  return rank(a) === 1 ? compareText(a.slice(0, -1), b.slice(0, -1)) : Number(a) - Number(b);
}

/** A scalar as Go prints its value with `%#v`. */
function scalarSyntax(node: YamlScalar): string {
  const { kind, value } = resolveScalar(node);
  if (value === null) return NIL;
  if (typeof value === 'string') return goQuoted(value);
  if (typeof value === 'boolean') return String(value);
  if (kind === 'int') return integerSyntax(integerText(node.text));
  return Number.isFinite(value) ? formatG(value) : goNotFinite(value);
}

/** Integers beyond an int64 are unsigned to go-yaml, and Go shows those in hexadecimal. */
export function integerSyntax(digits: string): string {
  return BigInt(digits) >= 2n ** 63n ? `0x${BigInt(digits).toString(16)}` : digits;
}

/** How Go prints NaN and infinities. */
export function goNotFinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

// YAML read into a Go type at once: where the type wants text, sigs.k8s.io/yaml makes text
// of numbers, true and false.
//
// @see https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go

/** Integers beyond 64 bits are floats. */
const MIN = -(2n ** 63n);
const MAX = 2n ** 64n - 1n;

/**
 * A value with text where a shape wants it and a plain scalar stands.
 *
 * @param node its tree, if there is one: a float with the value of an integer, such as `1e19`, is another text
 */
export function asText(value: unknown, shape: Shape, node?: YamlNode): unknown {
  const ownNode = node?.kind === 'alias' ? node.target : node;
  if (shape.kind === 'string') return textOfScalar(value, ownNode);
  if (Array.isArray(value) && shape.kind === 'list')
    return value.map((item, i) =>
      asText(item, shape.items, ownNode?.kind === 'sequence' ? ownNode.items[i] : undefined),
    );
  if (!isObject(value) || (shape.kind !== 'struct' && shape.kind !== 'map')) return value;
  const nodes = new Map(
    ownNode?.kind === 'mapping' ? ownNode.pairs.map((pair) => [keyName(pair.key), pair.value]) : [],
  );
  const members = Object.entries(value).map(([key, item]) => {
    const field = shape.kind === 'map' ? shape.values : fieldOf(shape, key);
    return [key, field ? asText(item, field, nodes.get(key)) : item];
  });
  return Object.fromEntries(members);
}

/** A number, true or false as the text that sigs.k8s.io/yaml makes of it; another value as it is. */
export function textOfScalar(value: unknown, node?: YamlNode): unknown {
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  const isFloat = node?.kind === 'scalar' && node.plain && kindOfPlain(node.text) === 'float';
  const isInteger = !isFloat && (typeof value === 'bigint' || Number.isSafeInteger(value));
  return isInteger && value >= MIN && value <= MAX ? String(value) : formatFloat32(Number(value));
}

/** The field of a struct that a key names, ignoring case. */
export function fieldOf(shape: StructShape, key: string): Shape | undefined {
  const name = nameLike(Object.keys(shape.fields), key);
  return name === undefined ? undefined : shape.fields[name];
}
