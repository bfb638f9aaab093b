/**
 * Pairs of CRDs, an older and a newer one, made at random: every keyword of a schema, and
 * everything around the schema that an upgrade check reads.
 */
import type { Random } from './yaml-documents.ts';

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

export interface CrdPair {
  /** What was changed, and where. */
  readonly name: string;
  readonly older: Json;
  readonly newer: Json;
}

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1', 'v2', 'v1alpha2', 'v10', 'foo', 'v1beta2'];
const PROPERTIES = [
  'size',
  'a.b',
  'a',
  'b',
  'items',
  'properties',
  'x-y',
  'spec',
  'status',
  'é',
  '*',
  'a[0]',
  '',
];
const NUMBERS = [
  0, 1, -1, 5, 10, 0.5, 1.25, 8_589_934_588, 1e20, 1e21, 1e22, 123_456_789, 1_000_000, 21_000_000, -3, 2.5e-7,
];
const COUNTS = [0, 1, 2, 5, 64, 1_000_000, 21_000_000, 2_147_483_648, 9_007_199_254_740_991];
const TEXTS = ['x', 'y', '', '<a> & "b"', 'é', 'a\nb', '^[a-z]+$', '\u2028', 'a\tb', '1', '%s'];
const VALUES = [
  0,
  1,
  'x',
  '',
  true,
  false,
  {},
  [],
  { b: 1, a: '<' },
  ['x', 1],
  1.5,
  1e21,
  { a: { c: [1] } },
  'é',
];

type Maker = (random: Random, depth: number) => Json;

const text: Maker = (random) => random.pick(TEXTS);
const number: Maker = (random) => random.pick(NUMBERS);
const count: Maker = (random) => random.pick(COUNTS);
const flag: Maker = (random) => chance(random, 0.7);
const value: Maker = (random) => random.pick(VALUES);
const child: Maker = (random, depth) => schema(random, depth - 1);
const children: Maker = (random, depth) => some(random, 3).map(() => child(random, depth));
const byName: Maker = (random, depth) =>
  Object.fromEntries(some(random, 3).map(() => [random.pick(PROPERTIES), child(random, depth)]));

function chance(random: Random, share: number): boolean {
  return random.below(1000) < share * 1000;
}

function some(random: Random, most: number): number[] {
  return Array.from({ length: 1 + random.below(most) }, (_, i) => i);
}

/** Every keyword of a schema, and what it may hold. */
const KEYWORDS: Readonly<Record<string, Maker>> = {
  id: text,
  $schema: text,
  $ref: text,
  description: text,
  type: (random) => random.pick(['string', 'integer', 'object', 'array', 'number', 'boolean', '']),
  format: text,
  title: text,
  default: value,
  maximum: number,
  exclusiveMaximum: flag,
  minimum: number,
  exclusiveMinimum: flag,
  maxLength: count,
  minLength: count,
  pattern: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  multipleOf: number,
  enum: (random) => some(random, 4).map(() => value(random, 0)),
  maxProperties: count,
  minProperties: count,
  required: (random) => some(random, 4).map(() => random.pick(PROPERTIES)),
  items: (random, depth) => (chance(random, 0.9) ? child(random, depth) : children(random, depth)),
  allOf: children,
  oneOf: children,
  anyOf: children,
  not: child,
  properties: byName,
  additionalProperties: (random, depth) => (chance(random, 0.5) ? chance(random, 0.5) : child(random, depth)),
  patternProperties: byName,
  dependencies: (random, depth) =>
    Object.fromEntries(
      some(random, 2).map(() => [
        random.pick(PROPERTIES),
        chance(random, 0.5) ? [random.pick(PROPERTIES)] : child(random, depth),
      ]),
    ),
  additionalItems: (random, depth) => (chance(random, 0.5) ? chance(random, 0.5) : child(random, depth)),
  definitions: byName,
  externalDocs: (random) => ({ url: text(random, 0), description: text(random, 0) }),
  example: value,
  nullable: flag,
  'x-kubernetes-preserve-unknown-fields': flag,
  'x-kubernetes-embedded-resource': flag,
  'x-kubernetes-int-or-string': flag,
  'x-kubernetes-list-map-keys': (random) => some(random, 2).map(() => random.pick(PROPERTIES)),
  'x-kubernetes-list-type': (random) => random.pick(['atomic', 'set', 'map', '']),
  'x-kubernetes-map-type': (random) => random.pick(['atomic', 'granular', '']),
  'x-kubernetes-validations': (random) =>
    some(random, 2).map(() => ({ rule: text(random, 0), message: text(random, 0) })),
};
/** What API servers refuse in the schema of a CRD; still, files have it. */
const REFUSED = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
];
const ALLOWED = Object.keys(KEYWORDS).filter((keyword) => !REFUSED.includes(keyword));
const NESTING = ['items', 'properties', 'additionalProperties', 'allOf', 'anyOf', 'oneOf', 'not'];

function schema(random: Random, depth: number): Json {
  const node: Json = {};
  if (chance(random, 0.8)) node.type = KEYWORDS['type']?.(random, depth);
  for (const _ of chance(random, 0.5) ? some(random, 3) : []) set(node, random, depth);
  if (depth > 0 && chance(random, 0.8)) node.properties = byName(random, depth);
  return node;
}

function set(node: Json, random: Random, depth: number): string {
  const keyword = random.pick(chance(random, 0.97) ? ALLOWED : REFUSED);
  if (depth <= 0 && NESTING.includes(keyword)) return '';
  node[keyword] = KEYWORDS[keyword]?.(random, depth);
  return keyword;
}

function version(random: Random, name: string): Json {
  const made: Json = { name, served: chance(random, 0.8), storage: chance(random, 0.4) };
  if (chance(random, 0.95)) made.schema = { openAPIV3Schema: schema(random, 2) };
  return made;
}

function crd(random: Random): Json {
  const names = [...new Set(some(random, 3).map(() => random.pick(VERSIONS)))];
  const made: Json = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'samples.test.example.com' },
    spec: {
      group: 'test.example.com',
      names: { kind: 'Sample', listKind: 'SampleList', plural: 'samples', singular: 'sample' },
      scope: 'Namespaced',
      versions: names.map((name) => version(random, name)),
    },
  };
  const served = made.spec.versions;
  // Most versions of one CRD look alike.
  if (served.length > 1 && chance(random, 0.6)) {
    for (const each of served.slice(1)) each.schema = structuredClone(served[0].schema);
  }
  const stored = names.filter(() => chance(random, 0.7));
  made.status = { storedVersions: stored.length > 0 ? stored : [names[0]] };
  if (chance(random, 0.15)) made.spec.conversion = { strategy: random.pick(['Webhook', 'None']) };
  return made;
}

/** Every schema below a value, with the place of each. */
function* nodesOf(node: Json, place: string): Generator<[string, Json]> {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const [i, item] of node.entries()) yield* nodesOf(item, `${place}[${i}]`);
    return;
  }
  yield [place, node];
  for (const key of ['items', 'additionalProperties', 'not', 'allOf', 'anyOf', 'oneOf', 'additionalItems']) {
    if (node[key] !== undefined) yield* nodesOf(node[key], `${place}.${key}`);
  }
  for (const key of ['properties', 'patternProperties', 'definitions', 'dependencies']) {
    for (const [name, item] of Object.entries(node[key] ?? {})) {
      if (!Array.isArray(item)) yield* nodesOf(item, `${place}.${key}.${name}`);
    }
  }
}

type Change = (crd: Json, random: Random) => string | undefined;

function inSchema(change: (node: Json, random: Random, place: string) => string | undefined): Change {
  return ({ spec }, random) => {
    const chosen = random.pick<Json>(spec.versions);
    const nodes = [...nodesOf(chosen?.schema?.openAPIV3Schema, chosen?.name)];
    if (nodes.length === 0) return undefined;
    const [place, node] = random.pick(nodes) as [string, Json];
    const what = change(node, random, place);
    return what && `${what} at ${place}`;
  };
}

const IN_SCHEMA: readonly Change[] = [
  inSchema((node, random) => set(node, random, 1)),
  inSchema((node, random) => set(node, random, 1)),
  inSchema((node, random) => {
    const keys = Object.keys(node);
    if (keys.length === 0) return undefined;
    const key = random.pick(keys);
    delete node[key];
    return `no ${key}`;
  }),
  inSchema((node, random) => {
    const keys = Object.keys(node).filter((key) => key in KEYWORDS);
    if (keys.length === 0) return undefined;
    const key = random.pick(keys);
    node[key] = KEYWORDS[key]?.(random, 1);
    return `other ${key}`;
  }),
  inSchema((node, random) => {
    const key = random.pick(['required', 'enum', 'x-kubernetes-list-map-keys']);
    if (!Array.isArray(node[key])) return undefined;
    const how = random.below(3);
    if (how === 0) node[key].reverse();
    if (how === 1) node[key].push(...(KEYWORDS[key]?.(random, 0) ?? []));
    if (how === 2) node[key] = node[key].slice(1);
    return `${['reversed', 'longer', 'shorter'][how]} ${key}`;
  }),
  inSchema((node, random) => {
    const names = Object.keys(node.properties ?? {});
    if (names.length === 0) return undefined;
    const name = random.pick(names);
    const to = random.pick(PROPERTIES);
    node.properties = Object.fromEntries(
      Object.entries(node.properties).map(([key, each]) => [key === name ? to : key, each]),
    );
    return `${JSON.stringify(name)} becomes ${JSON.stringify(to)}`;
  }),
];

const AROUND: readonly Change[] = [
  ({ spec }, random) => {
    delete random.pick<Json>(spec.versions).schema;
    return 'no schema';
  },
  ({ spec }, random) => {
    random.pick<Json>(spec.versions).schema = {};
    return 'empty schema';
  },
  ({ spec }, random) => {
    if (spec.versions.length < 2) return undefined;
    spec.versions.splice(random.below(spec.versions.length), 1);
    return 'version removed';
  },
  ({ spec }, random) => {
    const name = random.pick(VERSIONS);
    if (spec.versions.some((each: Json) => each.name === name)) return undefined;
    const added = version(random, name);
    if (chance(random, 0.6)) added.schema = structuredClone(spec.versions[0].schema);
    spec.versions.push(added);
    return 'version added';
  },
  ({ spec }, random) => {
    const key = random.pick(['served', 'storage', 'deprecated']);
    const each = random.pick<Json>(spec.versions);
    each[key] = !each[key];
    return `${key} of ${each.name}`;
  },
  ({ spec }, random) => {
    spec.versions.reverse();
    spec.scope = random.pick(['Namespaced', 'Cluster', '']);
    return 'reversed versions, scope';
  },
  ({ spec }, random) => {
    spec.conversion = random.pick<Json>([{ strategy: 'Webhook' }, { strategy: 'None' }, {}, null]);
    return 'conversion';
  },
  ({ spec }) => {
    spec.names.shortNames = ['x'];
    spec.preserveUnknownFields = true;
    return 'names';
  },
  (made) => {
    delete made.status;
    return 'no status';
  },
];

/** A CRD and a newer one, which differs from it in up to three places. */
export function crdPair(random: Random): CrdPair {
  const older = crd(random);
  const newer = structuredClone(older);
  const names: string[] = [];
  for (const _ of some(random, 3)) {
    const changes = chance(random, 0.8) ? IN_SCHEMA : AROUND;
    // Some changes are of both: what the old CRD has already is compared, too.
    const what = random.pick(changes)(chance(random, 0.9) ? newer : older, random);
    if (what) names.push(what);
  }
  return { name: names.join('; '), older, newer };
}
