/** Manifests in `olm.bundle.object` properties: JSON, or YAML, which opm converts to JSON. */
import { decodeBase64, latin1Of } from '../go/base64.ts';
import { fitStruct, isObject } from '../go/shape.ts';
import { parseJson } from '../json.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError } from '../yaml/tree.ts';
import { PROPERTY_SHAPES } from './property.ts';

/** An object of Kubernetes. */
type Manifest = Readonly<Record<string, unknown>>;

const OBJECT_SHAPE = PROPERTY_SHAPES.get('olm.bundle.object');

/** The Base64 of the manifest in the value of a property, its key in whatever case. */
export function objectData(value: unknown): string | undefined {
  // The usual spelling needs no look at the Base64, which may be long.
  const isUsual = isObject(value) && Object.keys(value).length === 1 && typeof value['data'] === 'string';
  const fields = isUsual || !OBJECT_SHAPE ? value : fitStruct(value, OBJECT_SHAPE).value;
  return isObject(fields) && typeof fields['data'] === 'string' ? fields['data'] : undefined;
}

/** How JSON may write a letter of a kind other than by the letter. */
const ESCAPED_LETTER = /\\u00[4-7]/i;

/** The manifest in a property; undefined if it cannot be read, which is reported where catalogs are read. */
export function manifestIn(base64: string): Manifest | undefined {
  const value = parseManifest(new TextDecoder().decode(decodeBase64(base64)));
  return isObject(value) ? value : undefined;
}

/** The manifest in the Base64 of a bundle object, if it has this kind. JSON that cannot be of the kind is not parsed. */
export function manifestOfKind(kind: string, base64: string): Manifest | undefined {
  const text = latin1Of(base64);
  const isOther = text?.startsWith('{') && !text.includes(kind) && !ESCAPED_LETTER.test(text);
  const manifest = isOther ? undefined : manifestIn(base64);
  return manifest?.['kind'] === kind ? manifest : undefined;
}

/** A manifest read as JSON or, where it is not JSON, as YAML; undefined where it is neither. */
function parseManifest(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return tryReadYaml(text);
  }
}

/** The value of a text of YAML; undefined for a text that is not YAML. */
export function tryReadYaml(text: string): unknown {
  try {
    return compose(readTree(text).root).value;
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}
