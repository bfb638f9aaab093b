/** A forge's own description of its API, as OpenAPI: what a request may be, what an answer must be, and the least of it. */
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

export interface Description {
  /** The operation of a request; undefined where there is none. */
  operationOf(method: string, path: string): Operation | undefined;
  /** The schema of an answer; undefined for one without a body, or that is not described. */
  responseSchema(operation: Operation, status: number): Json | undefined;
  /** What is wrong with the query and the body of a request, in words. */
  requestDefects(
    operation: Operation,
    asked: { readonly query: Readonly<Record<string, string>>; readonly body: unknown },
  ): string[];
  /** What is wrong with a value under one of the description's schemas, in words. */
  defectsOf(schema: Json, value: unknown): string[];
  /** The least value that a schema passes, with what is given in place of what it would make up. */
  leastOf(schema: Json, given: unknown): unknown;
}

/** @param file below `test/fakes/fixtures`: a slice, which a script of `scripts/` cuts */
export function readDescription(file: string): Description {
  const { paths, components } = JSON.parse(readFileSync(`test/fakes/fixtures/${file}`, 'utf8')) as {
    paths: Record<string, Record<string, Json>>;
    components: Json;
  };
  const resolved = (value: Json): Json => {
    const ref = value['$ref'];
    if (typeof ref !== 'string') return value;
    const [, , kind = '', name = ''] = ref.split('/');
    return resolved((components[kind] as Record<string, Json>)[name] ?? {});
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      pattern: patternOf(path),
      parameters: (operation['parameters'] as Json[]).map((one) => resolved(one) as unknown as Parameter),
      body: contentSchema(operation['requestBody'] && resolved(operation['requestBody'] as Json)),
      responses: operation['responses'] as Record<string, Json>,
    })),
  );
  const defectsOf = judge(components, false);
  return {
    operationOf: finder(operations),
    responseSchema: ({ responses }, status) => {
      const response = responses[String(status)];
      return response && contentSchema(resolved(response));
    },
    requestDefects: requestJudge(defectsOf, judge(components, true)),
    defectsOf,
    leastOf: (schema, given) => leastOf(resolved, schema, given),
  };
}

/** A path's last name may stand for several folders, as of files. */
function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll(/[.]/g, '\\.')
    .replaceAll(/\{filepath\}/g, '(?<filepath>.+)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${pattern}$`);
}

function finder(operations: readonly Operation[]): Description['operationOf'] {
  const known = new Map<string, Operation | undefined>();
  return (method, path) => {
    const key = `${method} ${path}`;
    if (known.has(key)) return known.get(key);
    const fitting = operations.filter((one) => one.method === method && one.pattern.test(path));
    // Of several the one with the fewest names to fill in.
    const [found] = fitting.toSorted((a, b) => a.name.split('{').length - b.name.split('{').length);
    known.set(key, found);
    return found;
  };
}

function contentSchema(holder: unknown): Json | undefined {
  const { content } = (holder ?? {}) as { content?: Record<string, { schema?: Json }> };
  return content?.['application/json']?.schema;
}

type Judge = (schema: Json, value: unknown) => string[];

/** @param coerce whether numbers and flags may be written as text */
function judge(components: Json, coerce: boolean): Judge {
  // Defects are those of the tests' own data, so everything is told at once.
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: !coerce, coerceTypes: coerce });
  ajv.addSchema({ $id: 'forge', components }, 'forge');
  const compiled = new Map<string, ValidateFunction>();
  /** By the schemas of the description, which stay the same objects. */
  const known = new WeakMap<Json, ValidateFunction>();
  const compile = (schema: Json): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"forge#/components');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    compiled.set(text, validate);
    known.set(schema, validate);
    return validate;
  };
  return (schema, value) => {
    const validate = known.get(schema) ?? compile(schema);
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    return errors.slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

function requestJudge(judgeBody: Judge, judgeQuery: Judge): Description['requestDefects'] {
  /** Schemas of objects that hold the value of a parameter: a value alone is not turned into its type. */
  const holders = new WeakMap<object, Json>();
  return (operation, { query, body }) => {
    const defects = Object.entries(query).flatMap(([name, value]) => {
      const parameter = operation.parameters.find((one) => one.in === 'query' && one.name === name);
      if (!parameter) return [`has no parameter ${name}`];
      const holder = holders.get(parameter) ?? {
        type: 'object',
        properties: { value: parameter.schema ?? {} },
      };
      holders.set(parameter, holder);
      return judgeQuery(holder, { value });
    });
    if (operation.body) defects.push(...judgeBody(operation.body, body ?? {}));
    return defects.map((defect) => `request ${operation.name}: ${defect}`);
  };
}

type Resolve = (value: Json) => Json;

function leastOf(resolved: Resolve, schema: Json, given: unknown): unknown {
  const whole = resolved(schema);
  if (given === null) return null;
  const choices = ((whole['oneOf'] ?? whole['anyOf']) as Json[] | undefined) ?? [];
  if (given === undefined && choices.some(({ type }) => type === 'null')) return null;
  const [first] = choices;
  if (first && !('properties' in whole))
    return leastOf(resolved, pick(resolved, whole, given) ?? first, given);
  const all = whole['allOf'] as Json[] | undefined;
  if (all?.length === 1 && all[0]) return leastOf(resolved, all[0], given);
  if (Array.isArray(given))
    return given.map((item) => leastOf(resolved, (whole['items'] as Json) ?? {}, item));
  const type = Array.isArray(whole['type']) ? whole['type'][0] : whole['type'];
  if (type === 'object' || 'properties' in whole)
    return leastObject(resolved, whole, given as Json | undefined);
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
function pick(resolved: Resolve, whole: Json, given: unknown): Json | undefined {
  const all = (whole['oneOf'] ?? whole['anyOf']) as Json[];
  if (typeof given !== 'object' || given === null) return undefined;
  const keys = Object.keys(given);
  return all.find((one) => {
    const properties = (resolved(one)['properties'] ?? {}) as Json;
    return keys.every((key) => key in properties);
  });
}

function leastObject(resolved: Resolve, whole: Json, given: Json = {}): Json {
  const properties = (whole['properties'] ?? {}) as Record<string, Json>;
  const required = (whole['required'] ?? []) as string[];
  const keys = new Set([...required, ...Object.keys(given)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, leastOf(resolved, properties[key] ?? {}, given[key])]),
  );
}
