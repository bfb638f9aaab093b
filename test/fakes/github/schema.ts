/** GitHub's own description of its API: what a request may be, what an answer must be, and the least of it. */
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

type Json = Record<string, unknown>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: Json;
}

export interface Operation {
  /** `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly name: string;
  readonly pattern: RegExp;
  readonly method: string;
  readonly parameters: readonly Parameter[];
  readonly body: Json | undefined;
  readonly responses: Readonly<Record<string, Json>>;
}

const description = JSON.parse(readFileSync('test/fakes/fixtures/github-openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Json>>;
  components: Json;
};

// Defects are those of the tests' own data, so everything is told at once.
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, coerceTypes: false });
ajv.addSchema({ $id: 'github', components: description.components }, 'github');
const lenient = new Ajv({ strict: false, validateFormats: false, coerceTypes: true });
lenient.addSchema({ $id: 'github', components: description.components }, 'github');

export const OPERATIONS: readonly Operation[] = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    parameters: (operation['parameters'] as Json[]).map((one) => resolved(one) as unknown as Parameter),
    body: bodySchema(operation['requestBody'] as Json | undefined),
    responses: operation['responses'] as Record<string, Json>,
  })),
);

function resolved(value: Json): Json {
  const ref = value['$ref'];
  if (typeof ref !== 'string') return value;
  const [, , kind = '', name = ''] = ref.split('/');
  return resolved((description.components[kind] as Record<string, Json>)[name] ?? {});
}

function contentSchema(holder: Json | undefined): Json | undefined {
  const content = holder?.['content'] as Record<string, { schema?: Json }> | undefined;
  return content?.['application/json']?.schema;
}

function bodySchema(body: Json | undefined): Json | undefined {
  return contentSchema(body && resolved(body));
}

/** The schema of an answer; undefined for one without a body, or that GitHub does not describe. */
export function responseSchema({ responses }: Operation, status: number): Json | undefined {
  const response = responses[String(status)];
  return response && contentSchema(resolved(response));
}

const compiled = new Map<string, ValidateFunction>();
/** By the schemas of the description, which stay the same objects. */
const strict = new WeakMap<Json, ValidateFunction>();
const coercing = new WeakMap<Json, ValidateFunction>();

/** What is wrong with a value under one of the description's schemas, in words. */
export function defectsOf(schema: Json, value: unknown, coerce = false): string[] {
  const known = coerce ? coercing : strict;
  const validate = known.get(schema) ?? compile(schema, coerce);
  known.set(schema, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function compile(schema: Json, coerce: boolean): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"github#/components');
  const key = `${coerce} ${text}`;
  const validate = compiled.get(key) ?? (coerce ? lenient : ajv).compile(JSON.parse(text) as Json);
  compiled.set(key, validate);
  return validate;
}

/** The least value that a schema passes, with what is given in place of what it would make up. */
export function leastOf(schema: Json, given: unknown): unknown {
  const whole = resolved(schema);
  if (given === null) return null;
  const choices = ((whole['oneOf'] ?? whole['anyOf']) as Json[] | undefined) ?? [];
  if (given === undefined && choices.some(({ type }) => type === 'null')) return null;
  const [first] = choices;
  if (first && !('properties' in whole)) return leastOf(pick(whole, given) ?? first, given);
  const all = whole['allOf'] as Json[] | undefined;
  if (all?.length === 1 && all[0]) return leastOf(all[0], given);
  if (Array.isArray(given)) return given.map((item) => leastOf((whole['items'] as Json) ?? {}, item));
  const type = Array.isArray(whole['type']) ? whole['type'][0] : whole['type'];
  if (type === 'object' || 'properties' in whole) return leastObject(whole, given as Json | undefined);
  if (given !== undefined) return given;
  if (Array.isArray(whole['enum'])) return whole['enum'][0];
  switch (type) {
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    default:
      return 'x';
  }
}

/** Of several schemas the one that knows what is given. */
function pick(whole: Json, given: unknown): Json | undefined {
  const all = (whole['oneOf'] ?? whole['anyOf']) as Json[];
  if (typeof given !== 'object' || given === null) return undefined;
  const keys = Object.keys(given);
  return all.find((one) => {
    const properties = (resolved(one)['properties'] ?? {}) as Json;
    return keys.every((key) => key in properties);
  });
}

function leastObject(whole: Json, given: Json = {}): Json {
  const properties = (whole['properties'] ?? {}) as Record<string, Json>;
  const required = (whole['required'] ?? []) as string[];
  const keys = new Set([...required, ...Object.keys(given)]);
  return Object.fromEntries([...keys].map((key) => [key, leastOf(properties[key] ?? {}, given[key])]));
}
