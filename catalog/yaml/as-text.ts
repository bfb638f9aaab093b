/**
 * YAML read into a Go type at once: where the type wants text, sigs.k8s.io/yaml makes text
 * of numbers, true and false.
 *
 * @see https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go
 */
import { isObject, type Shape, type StructShape } from '../go/shape.ts';
import { keyName } from './resolve.ts';
import { formatFloat32, kindOfPlain } from './scalar.ts';
import type { YamlNode } from './tree.ts';

/** Integers beyond 64 bits are floats. */
const MIN = -(2n ** 63n);
const MAX = 2n ** 64n - 1n;

/**
 * A value with text where a shape wants it and a plain scalar stands.
 *
 * @param node its tree, if there is one: a float with the value of an integer, such as `1e19`, is another text
 */
export function asText(value: unknown, shape: Shape, node?: YamlNode): unknown {
  const at = node?.kind === 'alias' ? node.target : node;
  if (shape.kind === 'string') return textOfScalar(value, at);
  if (Array.isArray(value) && shape.kind === 'list')
    return value.map((item, i) =>
      asText(item, shape.items, at?.kind === 'sequence' ? at.items[i] : undefined),
    );
  if (!isObject(value) || (shape.kind !== 'struct' && shape.kind !== 'map')) return value;
  const nodes = new Map(
    at?.kind === 'mapping' ? at.pairs.map((pair) => [keyName(pair.key), pair.value]) : [],
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
  const name = Object.keys(shape.fields).find((one) => one.toLowerCase() === key.toLowerCase());
  return name === undefined ? undefined : shape.fields[name];
}
