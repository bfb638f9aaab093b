/**
 * A YAML tree turned into JSON, as go-yaml v2 decodes it into untyped values and
 * sigs.k8s.io/yaml converts them: keys become strings, merge keys are merged where
 * they stand, the last of equal keys wins, a number is a 64-bit float.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/decode.go
 * @see https://github.com/kubernetes-sigs/yaml/blob/v1.6.0/yaml.go
 */
import { onceFor } from '../go/once.ts';
import { DEEPEST } from '../json.ts';
import {
  goNotFinite,
  goSyntax,
  integerSyntax,
  isMerge,
  keyName,
  resolveScalar,
  type ScalarValue,
  scalarValue,
} from './resolve.ts';
import { integerText } from './scalar.ts';
import { YamlError, type YamlMapping, type YamlNode, type YamlPair, type YamlScalar } from './tree.ts';

/** A key that stands more than once in one mapping; readers keep the last. */
interface DuplicateKey {
  readonly key: string;
  readonly first: number;
  readonly again: number;
}

/** The JSON of a tree, and what positions cannot be read from the JSON alone. */
export interface Composed {
  readonly value: unknown;
  readonly duplicates: readonly DuplicateKey[];
  /** Offset of the node at a path; of the deepest ancestor that exists. */
  locate(path: readonly (string | number)[]): number;
}

interface ComposeOptions {
  /** Whether integers that a 64-bit float would round come as bigint. */
  readonly exactIntegers?: boolean;
}

/**
 * Decodes a tree of nodes to a JSON value as go-yaml and opm do.
 *
 * @throws YamlError for what Go refuses (`.inf`, null or collection keys, bad tags, alias bombs), and for aliases that
 *   nest or repeat beyond reason
 */
export function compose(root: YamlNode | undefined, options: ComposeOptions = {}): Composed {
  if (root === undefined) return { value: null, duplicates: [], locate: () => 0 };
  const decoder = new Decoder(options.exactIntegers ?? false);
  const value = decoder.decodeDocument(root);
  return { value, duplicates: decoder.duplicates, locate: (path) => locate(root, path) };
}

/** From these counts on Go compares how much of the work came out of aliases. */
const ALIAS_RATIO_LOW = 400_000;
const ALIAS_RATIO_HIGH = 4_000_000;
/** Most text, in UTF-16 units, that aliases may repeat. Go has no such limit. */
const MAX_ALIASED_TEXT = 256 * 1024 * 1024;

/** Which part of so many decoded nodes may come out of aliases, as in go-yaml: large documents may have fewer. */
function allowedAliasRatio(decoded: number): number {
  if (decoded <= ALIAS_RATIO_LOW) return 0.99;
  if (decoded >= ALIAS_RATIO_HIGH) return 0.1;
  return 0.99 - 0.89 * ((decoded - ALIAS_RATIO_LOW) / (ALIAS_RATIO_HIGH - ALIAS_RATIO_LOW));
}

type JsonObject = Record<string, unknown>;

/** Whether the scalar is an integer that a float may not hold. */
function isRounded(value: number, node: YamlScalar): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && resolveScalar(node).kind === 'int';
}

class Decoder {
  readonly duplicates: DuplicateKey[] = [];
  /** Aliases that are being followed. */
  readonly #aliases = new Set<YamlNode>();
  #decoded = 0;
  #aliased = 0;
  #aliasedText = 0;
  #depth = 0;
  /** Infinite numbers and NaN, which JSON lacks. Like Go, refuse them at the end: a later key may have replaced them. */
  readonly #notFinite: YamlScalar[] = [];
  readonly #badKeys = new Map<JsonObject, BadKey>();
  readonly #exactIntegers: boolean;

  constructor(exactIntegers: boolean) {
    this.#exactIntegers = exactIntegers;
  }

  /** The JSON value of a whole document. @throws YamlError */
  decodeDocument(root: YamlNode): unknown {
    // go-yaml counts the document as a node, too.
    this.#decoded++;
    const value = this.#decode(root);
    if (this.#badKeys.size > 0) refuseBadKeys(value, this.#badKeys);
    if (this.#notFinite.length > 0) refuseNotFinite(value, this.#notFinite);
    return value;
  }

  /** The value of a node. */
  #decode(node: YamlNode): unknown {
    this.#count(node);
    switch (node.kind) {
      case 'scalar':
        return this.#scalar(node);
      case 'alias': {
        this.#open(node);
        const value = this.#decode(node.target);
        this.#aliases.delete(node);
        return value;
      }
      case 'sequence': {
        const items: unknown[] = [];
        this.#descend(node);
        for (const item of node.items) items.push(this.#decode(item));
        this.#depth--;
        return items;
      }
      case 'mapping': {
        const target: JsonObject = {};
        this.#mapping(node, target);
        return target;
      }
    }
  }

  /**
   * Counts a node. Like Go, refuses a document in which aliases cause most of the work.
   *
   * @throws YamlError
   */
  #count(node: YamlNode): void {
    this.#decoded++;
    if (this.#aliases.size > 0) this.#aliased++;
    // go-yaml asks small documents nothing.
    if (this.#aliased <= 100 || this.#decoded <= 1000) return;
    if (this.#aliased / this.#decoded > allowedAliasRatio(this.#decoded)) {
      const problem = 'document contains excessive aliasing';
      throw new YamlError(problem, node.start, `yaml: ${problem}`);
    }
  }

  /**
   * Counts a collection that is entered.
   *
   * @throws YamlError when it is nested too deep
   */
  #descend(node: YamlNode): void {
    if (++this.#depth > DEEPEST) {
      throw new YamlError(`collections are nested deeper than ${DEEPEST} levels`, node.start);
    }
  }

  /** Notes that an alias is being followed. @throws YamlError if it is inside the node that it names */
  #open(alias: YamlNode & { kind: 'alias' }): void {
    if (this.#aliases.has(alias)) {
      throw new YamlError(
        `anchor "${alias.name}" contains itself`,
        alias.start,
        `yaml: anchor '${alias.name}' value contains itself`,
      );
    }
    this.#aliases.add(alias);
  }

  /**
   * The value of a scalar.
   *
   * @throws YamlError when aliases repeat too much text
   */
  #scalar(node: YamlScalar): ScalarValue | bigint {
    if (this.#aliases.size > 0) this.#aliasedText += node.text.length;
    if (this.#aliasedText > MAX_ALIASED_TEXT) {
      throw new YamlError(`aliases repeat more than ${MAX_ALIASED_TEXT} characters`, node.start);
    }
    const value = scalarValue(node);
    if (typeof value !== 'number') return value;
    if (!Number.isFinite(value)) this.#notFinite.push(node);
    return this.#exactIntegers && isRounded(value, node) ? BigInt(integerText(node.text)) : value;
  }

  /** Sets the pairs of a mapping in `target`. Merge keys take their place among them, as in go-yaml. */
  #mapping(node: YamlMapping, target: JsonObject): void {
    this.#descend(node);
    const seen = new Map<string, number>();
    for (const { key, value } of node.pairs) {
      if (isMerge(key)) {
        this.#merge(value, target);
        continue;
      }
      const name = this.#key(key);
      const decoded = this.#decode(value);
      if (name === undefined) {
        this.#badKeys.set(target, { key, value });
        continue;
      }
      const first = seen.get(name);
      if (first !== undefined) this.duplicates.push({ key: name, first, again: key.start });
      else seen.set(name, key.start);
      setOwn(target, name, decoded);
    }
    this.#depth--;
  }

  /** The name of a key in JSON; undefined when it gets none. */
  #key(key: YamlNode): string | undefined {
    const value = this.#decode(key);
    if (typeof value === 'object' && value !== null) {
      throw new YamlError(
        'a mapping key must be a scalar: text that begins with { or [ needs quotes',
        key.start,
        `yaml: invalid map key: ${goSyntax(key)}`,
      );
    }
    return keyName(key);
  }

  /** Sets the pairs of one mapping, or of several, that a merge key names. */
  #merge(value: YamlNode, target: JsonObject): void {
    if (value.kind === 'sequence') {
      // Earlier mappings of the list win, so they are laid on last.
      for (const item of value.items.toReversed()) this.#mergeOne(item, target);
    } else this.#mergeOne(value, target);
  }

  /** Sets the pairs of one mapping that a merge key names. */
  #mergeOne(value: YamlNode, target: JsonObject): void {
    const mapping = value.kind === 'alias' ? value.target : value;
    if (mapping.kind !== 'mapping') {
      throw new YamlError(
        'a merge key (<<) takes a mapping or a list of mappings',
        value.start,
        'yaml: map merge requires map or sequence of maps as the value',
      );
    }
    this.#count(value);
    if (value.kind === 'alias') {
      this.#open(value);
      this.#count(mapping);
      this.#mapping(mapping, target);
      this.#aliases.delete(value);
    } else this.#mapping(mapping, target);
  }
}

/** Sets an own property whatever its name is. */
function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}

/** A key that gets no name in JSON. */
type BadKey = YamlPair;

/**
 * Refuses the first mapping with a key that gets no name. Mappings that a later key has replaced are not in the value
 * any more, and do not matter.
 */
function refuseBadKeys(root: unknown, badKeys: ReadonlyMap<JsonObject, BadKey>): void {
  for (const part of parts(root)) {
    const bad = badKeys.get(part as JsonObject);
    if (bad) refuseBadKey(target(bad.key) as YamlScalar, bad);
  }
}

/** Refuses a key that JSON cannot have, in go-yaml's words. */
function refuseBadKey(scalar: YamlScalar, { key, value }: BadKey): never {
  const isNull = scalarValue(scalar) === null;
  const message = isNull
    ? 'a mapping key must not be null'
    : `a mapping key must not exceed 64 bits with a sign: "${scalar.text}" needs quotes`;
  const type = isNull ? '%!s(<nil>)' : 'uint64';
  const shownKey = isNull ? '<nil>' : integerSyntax(integerText(scalar.text));
  const shownValue = goSyntax(value).replace(/^interface \{\}\(nil\)$/, '<nil>');
  throw new YamlError(
    message,
    key.start,
    `unsupported map key of type: ${type}, key: ${shownKey}, value: ${shownValue}`,
  );
}

/** Refuses the first number that JSON lacks, if it is still in the value. */
function refuseNotFinite(root: unknown, scalars: readonly YamlScalar[]): void {
  for (const part of parts(root)) {
    if (typeof part !== 'number' || Number.isFinite(part)) continue;
    const scalar = scalars.find((node) => Object.is(scalarValue(node), part));
    throw new YamlError(
      `${scalar?.text} has no place in JSON`,
      scalar?.start ?? 0,
      `json: unsupported value: ${goNotFinite(part)}`,
    );
  }
}

/** A value and everything in it, each in one step however deep it lies. */
function* parts(root: unknown): Generator<unknown> {
  const entered = [[root].values()];
  for (let inner = entered.at(-1); inner; inner = entered.at(-1)) {
    const { done, value } = inner.next();
    if (done) {
      entered.pop();
      continue;
    }
    yield value;
    if (typeof value === 'object' && value !== null) entered.push(Object.values(value).values());
  }
}

function target(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? node.target : node;
}

/** Offset of the node at `path`, or of the deepest node on the way to it that exists. */
function locate(root: YamlNode, path: readonly (string | number)[]): number {
  let node = root;
  let offset = root.start;
  for (const step of path) {
    const found = child(target(node), step, new Set());
    if (!found) return offset;
    offset = found.offset;
    node = found.node;
  }
  return offset;
}

interface Found {
  readonly node: YamlNode;
  readonly offset: number;
}

/**
 * The value of a key or an index, and where it is written: at its key if it is empty. The last of equal keys counts, and
 * merge keys (`<<`) are followed.
 *
 * @param searched mappings that were searched already: merges may form a circle
 */
function child(node: YamlNode, step: string | number, searched: Set<YamlNode>): Found | undefined {
  if (node.kind === 'sequence') {
    const item = typeof step === 'number' ? node.items[step] : undefined;
    return item && { node: item, offset: item.start };
  }
  if (node.kind !== 'mapping' || searched.has(node)) return undefined;
  searched.add(node);
  const { own, merges } = keysOf(node);
  const last = own.get(step);
  for (const { at, value } of merges) {
    // What is merged before the last own pair is overwritten by it.
    if (last && at < last.at) break;
    for (const source of value.kind === 'sequence' ? value.items : [value]) {
      const found = child(target(source), step, searched);
      if (found) return found;
    }
  }
  if (!last) return undefined;
  const { key, value } = last;
  const written = value.kind === 'scalar' && !(value.plain && value.text === '');
  return { node: value, offset: written ? value.start : key.start };
}

/** A pair, and how many stand before it. */
interface PlacedPair extends YamlPair {
  readonly at: number;
}

/** The last pair of each key, and merges, the last first: a mapping with many defects is asked for each. */
const keysOf = onceFor(
  ({ pairs }: YamlMapping): { own: ReadonlyMap<unknown, PlacedPair>; merges: readonly PlacedPair[] } => {
    const placed = pairs.map((pair, at) => ({ ...pair, at }));
    const own = placed.filter(({ key }) => !isMerge(key)).map((pair) => [keyName(pair.key), pair] as const);
    return { own: new Map(own), merges: placed.filter(({ key }) => isMerge(key)).toReversed() };
  },
);
