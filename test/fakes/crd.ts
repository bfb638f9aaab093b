/** The API server's judgement of an object: the published definition's schema, and its rules in CEL. */
import { readFileSync } from 'node:fs';
import { Environment } from '@marcbachmann/cel-js';
import { Ajv } from 'ajv';
import { readObjects } from '../../catalog/mirror/read.ts';

type Schema = Readonly<Record<string, unknown>> & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
};

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/** What is wrong with an object; nothing for one that a cluster would take. */
export type Judge = (object: object) => string[];

/** @param file a CustomResourceDefinition */
export function judgeOf(file: string): { readonly kinds: readonly string[]; readonly judge: Judge } {
  const [definition] = readObjects(readFileSync(file, 'utf8'), file).objects;
  if (!definition) throw new Error(`${file} holds no object`);
  const { group, names, versions } = (definition.value as unknown as Definition).spec;
  const judges = new Map(
    versions.map(({ name, schema }) => [`${group}/${name}`, judgeBy(schema.openAPIV3Schema)]),
  );
  return {
    kinds: [...judges.keys()].map((apiVersion) => `${apiVersion} ${names.kind}`),
    judge: (object) => {
      const { apiVersion } = object as { apiVersion: string };
      return judges.get(apiVersion)?.(object) ?? [`there is no ${apiVersion} of ${names.kind}`];
    },
  };
}

function judgeBy(schema: Schema): Judge {
  const validate = AJV.compile(closed(schema));
  return (object) => {
    const wrong = validate(object) ? [] : (validate.errors ?? []);
    const said = wrong.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    return [...said, ...rulesBroken(object, schema, '')];
  };
}

const AJV = new Ajv({ strict: false, validateFormats: false, allErrors: true });

/** The API server drops unknown fields without a word: here they are wrong. */
function closed(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties !== undefined;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, closed(one)])),
      ...(isOpen ? {} : { additionalProperties: false }),
    }),
    ...(items && { items: closed(items) }),
  };
}

function rulesBroken(value: unknown, schema: Schema, path: string): string[] {
  const own = (schema['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => !holds(rule, schema['format'] === 'byte' ? decoded(value) : value))
    .map(({ rule, message }) => `${path} ${message ?? rule}`);
  if (Array.isArray(value)) {
    const { items } = schema;
    return [...own, ...(items ? value.flatMap((item, i) => rulesBroken(item, items, `${path}/${i}`)) : [])];
  }
  if (typeof value !== 'object' || value === null) return own;
  const below = Object.entries(value).flatMap(([key, member]) => {
    const child = schema.properties?.[key];
    return child ? rulesBroken(member, child, `${path}/${key}`) : [];
  });
  return [...own, ...below];
}

/** Rules see the bytes that base64 stands for. */
function decoded(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(String(value), 'base64'));
}

/** Kubernetes' own additions to CEL, as far as these definitions use them. */
const ENVIRONMENT = new Environment({ unlistedVariablesAreDyn: true }).registerFunction(
  'string.find(string): string',
  (text: string, pattern: string) => {
    return new RegExp(pattern).exec(text)?.[0] ?? '';
  },
);

function holds(rule: string, self: unknown): boolean {
  return ENVIRONMENT.evaluate(rule, { self }) === true;
}
