/** Types of Kubernetes that read JSON in a way of their own, for kubernetes-types.ts. */
import { type CheckedShape, listOf, mapOf, type Shape, type StructShape, structShape } from './shape.ts';
import { outOfRange } from './time.ts';

const QUANTITY_SYNTAX = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** White space that JSON escapes: Go looks for spaces around a quantity before it reads the escapes. */
const ESCAPED_SPACE = /[\t\n\v\f\r\u2028\u2029\ufeff]/;

/** `resource.Quantity`: a number, or text such as `100m` and `64Mi`. */
export const quantity: CheckedShape = {
  kind: 'checked',
  goName: 'resource.Quantity',
  expected: 'a quantity such as 100m or 64Mi',
  refusal: (value) =>
    (typeof value === 'string' || typeof value === 'number') &&
    !ESCAPED_SPACE.test(String(value)) &&
    QUANTITY_SYNTAX.test(String(value).trim())
      ? undefined
      : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
};

/** `intstr.IntOrString`. */
export const intOrString: CheckedShape = {
  kind: 'checked',
  goName: 'intstr.IntOrString',
  expected: 'text or a whole number of 32 bits',
  refusal: (value) =>
    // A shift leaves a number as it is if that has 32 bits.
    typeof value === 'string' || (Number.isInteger(value) && value === (value as number) >> 0)
      ? undefined
      : 'json: cannot unmarshal value into Go value of type int32',
};

/** RFC 3339 as Go's `time.Parse` takes it: with an hour of one digit, or a comma before the fraction, but no small letters. */
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|[+-](\d\d):(\d\d))$/;

/** `metav1.Time`: null, or a time of RFC 3339. */
export const time: CheckedShape = {
  kind: 'checked',
  goName: 'v1.Time',
  expected: 'a time of RFC 3339',
  refusal: (value) => {
    if (typeof value !== 'string') return 'json: cannot unmarshal value into Go value of type string';
    const found = RFC3339.exec(value);
    if (!found) return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse`;
    const part = outOfRange(found.slice(1).map((one) => Number(one ?? 0)));
    return part && `parsing time ${JSON.stringify(value)}: ${part} out of range`;
  },
};

/** Text of a Go type with a name. */
export function textOf(goName: string): Shape {
  return { kind: 'string', goName };
}

/** `apiextensions.JSONSchemaPropsOrArray`: a schema, or several. */
export const schemaOrArray: CheckedShape = schemaOr('v1.JSONSchemaPropsOrArray', Array.isArray);

/** `apiextensions.JSONSchemaPropsOrBool`: a schema, or whether anything is allowed. */
export const schemaOrBool: CheckedShape = schemaOr(
  'v1.JSONSchemaPropsOrBool',
  (value) => typeof value === 'boolean',
);

/** The shape of a schema, or of another kind of value. The schema is read as the struct in whose field it stands. */
function schemaOr(goName: string, other: (value: unknown) => boolean): CheckedShape {
  return {
    kind: 'checked',
    goName,
    expected: 'a schema',
    refusal: (value) =>
      (typeof value === 'object' && !Array.isArray(value)) || other(value)
        ? undefined
        : 'boolean or JSON schema expected',
    holdsOwner: true,
  };
}

/** A copy of a shape whose keys count only as they are spelled, at every depth. */
export function withExactKeys(shape: StructShape): StructShape {
  if (shape.exactKeys) return shape;
  const fields = Object.entries(shape.fields).map(([name, field]) => [name, exactIn(field)] as const);
  return { ...shape, fields: Object.fromEntries(fields), exactKeys: true };
}

/** A shape whose structs take keys only as they are spelled. */
function exactIn(shape: Shape): Shape {
  if (shape.kind === 'struct') return withExactKeys(shape);
  if (shape.kind === 'list') return listOf(exactIn(shape.items));
  return shape.kind === 'map' ? mapOf(exactIn(shape.values)) : shape;
}

/** A copy of a shape whose keys count in any case, as `encoding/json` reads them; the part `but` stays as it is. */
export function withFoldedKeys(shape: StructShape, but: StructShape): StructShape {
  if (shape === but) return shape;
  const fields = Object.entries(shape.fields).map(([name, field]) => [name, foldedIn(field, but)] as const);
  return structShape(shape.name, Object.fromEntries(fields));
}

/** A shape whose structs, but for one, take keys in any case. */
function foldedIn(shape: Shape, but: StructShape): Shape {
  if (shape.kind === 'struct') return withFoldedKeys(shape, but);
  if (shape.kind === 'list') return listOf(foldedIn(shape.items, but));
  return shape.kind === 'map' ? mapOf(foldedIn(shape.values, but)) : shape;
}
