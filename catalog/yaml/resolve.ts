/**
 * What a scalar of the tree is: its tag and its text together decide.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/resolve.go
 */
import { keyText, kindOfPlain, resolvePlain, type ScalarKind } from './scalar.ts';
import { YamlError, type YamlNode, type YamlScalar } from './tree.ts';

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
