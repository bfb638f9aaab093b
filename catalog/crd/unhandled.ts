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

/** @param changes keywords with their values before and after; undefined for none */
export function unhandledText(changes: readonly (readonly [string, unknown, unknown])[]): string {
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

function goValue(key: string, value: unknown): string {
  if (value === undefined) return FALSE_WHEN_ABSENT.has(key) ? 'false' : TEXTS.has(key) ? '""' : 'nil';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    return `[]string{${value.map((item) => JSON.stringify(item)).join(', ')}}`;
  }
  if (typeof value === 'object') return '<complex value>';
  return `${POINTERS.has(key) ? '&' : ''}${JSON.stringify(value)}`;
}
