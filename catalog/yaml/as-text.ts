/**
 * YAML read into a Go type at once: where the type wants text, sigs.k8s.io/yaml makes text
 * of numbers, true and false.
 *
 * @see https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go
 */
import { isObject, type Shape, type StructShape } from '../go/shape.ts';
import { formatFloat32 } from './scalar.ts';

/** Integers beyond 64 bits are floats. */
const MIN = -(2n ** 63n);
const MAX = 2n ** 64n - 1n;

/** A value with text where a shape wants it and a plain scalar stands. */
export function asText(value: unknown, shape: Shape): unknown {
  if (shape.kind === 'string') return scalarText(value);
  if (Array.isArray(value) && shape.kind === 'list') return value.map((item) => asText(item, shape.items));
  if (!isObject(value) || (shape.kind !== 'struct' && shape.kind !== 'map')) return value;
  const members = Object.entries(value).map(([key, item]) => {
    const field = shape.kind === 'map' ? shape.values : fieldOf(shape, key);
    return [key, field ? asText(item, field) : item];
  });
  return Object.fromEntries(members);
}

function scalarText(value: unknown): unknown {
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  return isInteger && value >= MIN && value <= MAX ? String(value) : formatFloat32(Number(value));
}

/** The field of a struct that a key names, ignoring case. */
export function fieldOf(shape: StructShape, key: string): Shape | undefined {
  const name = Object.keys(shape.fields).find((one) => one.toLowerCase() === key.toLowerCase());
  return name === undefined ? undefined : shape.fields[name];
}
