/**
 * JSONPath templates as kubectl reads them, for the `imagePaths` of an ImageSetConfiguration: fields, indexes,
 * slices, unions, wildcards, recursive descent and filters. A field that is missing gives nothing.
 *
 * @see https://github.com/kubernetes/client-go/blob/master/util/jsonpath/jsonpath.go
 */
import { isObject } from '../../go/shape.ts';

/** A template: each path in braces gives values. */
export interface JsonPath {
  readonly text: string;
  readonly paths: readonly (readonly Step[])[];
}

type Step =
  | { readonly kind: 'fields'; readonly names: readonly string[] }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'indexes'; readonly at: readonly number[] }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly by: number;
    }
  /** `operator` is one of `==`, `!=`, `<`, `<=`, `>`, `>=` and `exists`. */
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand };

type Operand = { readonly steps: readonly Step[] } | { readonly value: string | number | boolean };

/** A template that cannot be read; the message follows the template. */
export class JsonPathError extends Error {}

/** Characters of a template at most: each step walks the values of the step before. */
const LONGEST = 1_000;

/**
 * Reads a template such as `{.spec.containers[*].image}`.
 *
 * @throws JsonPathError
 */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > LONGEST) throw new JsonPathError(`is longer than ${LONGEST} characters`);
  const paths: Step[][] = [];
  let rest = text;
  while (rest !== '') {
    // Text between paths is literal to kubectl, and names no image.
    const open = rest.indexOf('{');
    if (open < 0) break;
    const { inner, after } = braced(rest.slice(open + 1));
    if (/^\s*(?:range|end)\b/.test(inner)) throw new JsonPathError('uses range, which is not supported here');
    const reader = new PathReader(inner.trim());
    paths.push(reader.path());
    rest = after;
  }
  if (paths.length === 0) throw new JsonPathError('has no path in braces, for example {.spec.image}');
  return { text, paths };
}

/** What stands before the closing brace, quotes respected, and what after it. */
function braced(text: string): { inner: string; after: string } {
  const found = /^((?:[^}'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\}/.exec(text);
  if (!found) throw new JsonPathError('has a brace that is not closed');
  return { inner: found[1] ?? '', after: text.slice(found[0].length) };
}

/** A field's name, such as `image` or `app\.kubernetes\.io/name`. */
const NAME = /^(?:[^\s.[\](){}'",=<>!?@$*:\\]|\\.)+/;

class PathReader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text;
  }

  /** The whole text as one path. */
  path(): Step[] {
    const steps = this.#steps();
    if (this.#rest !== '')
      throw new JsonPathError(`cannot be read at ${JSON.stringify(this.#rest.slice(0, 20))}`);
    return steps;
  }

  /** Takes what a pattern matches at the beginning of the rest. */
  #take(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#rest);
    if (found?.index !== 0) return undefined;
    this.#rest = this.#rest.slice(found[0].length);
    return found;
  }

  /** Reads steps as far as they go, as kubectl's JSONPath has them. */
  #steps(): Step[] {
    const steps: Step[] = [];
    this.#take(/^[$@]/);
    // The first field may lack its dot: `{items}`.
    const first = this.#take(NAME);
    if (first) steps.push(field(first[0]));
    for (;;) {
      if (this.#take(/^\.\.\*?/)) {
        steps.push({ kind: 'descend' });
        const name = this.#take(NAME);
        if (name) steps.push(field(name[0]));
      } else if (this.#take(/^\.\*/)) steps.push({ kind: 'wildcard' });
      else if (this.#take(/^\.(?=\[)/)) continue;
      else if (this.#take(/^\./)) {
        const name = this.#take(NAME);
        if (name) steps.push(field(name[0]));
      } else if (this.#take(/^\[\s*/)) steps.push(this.#bracket());
      else return steps;
    }
  }

  /** Reads what is in brackets, behind the opening one. */
  #bracket(): Step {
    if (this.#take(/^\?\(\s*/)) return this.#filter();
    const found = this.#take(/^((?:[^\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\]/);
    if (!found) throw new JsonPathError('has a bracket that is not closed');
    return bracketStep((found[1] ?? '').trim());
  }

  /** Reads a filter behind `?(`. Without an operator it asks whether the value exists. */
  #filter(): Step {
    const left = this.#operand();
    const operator = this.#take(/^\s*(==|!=|<=|>=|<|>)\s*/)?.[1] ?? 'exists';
    const right = operator === 'exists' ? { value: true } : this.#operand();
    if (!this.#take(/^\s*\)\s*\]/)) throw new JsonPathError('has a filter that cannot be read');
    return { kind: 'filter', left, operator, right };
  }

  /** Reads one side of a comparison: a path, or a literal. */
  #operand(): Operand {
    if (/^[@$]/.test(this.#rest)) return { steps: this.#steps() };
    const quoted = this.#take(/^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/);
    if (quoted) return { value: withoutEscapes(quoted[1] ?? quoted[2] ?? '') };
    const number = this.#take(/^-?\d+(?:\.\d+)?/);
    if (number) return { value: Number(number[0]) };
    const word = this.#take(/^(?:true|false)\b/);
    if (word) return { value: word[0] === 'true' };
    throw new JsonPathError('has a filter that cannot be read');
  }
}

function field(name: string): Step {
  return { kind: 'fields', names: [withoutEscapes(name)] };
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}

const QUOTED = /^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:,\s*|$)/;

/** The step that the text in brackets stands for: `*`, names, indexes or a slice. @throws JsonPathError */
function bracketStep(inner: string): Step {
  if (inner === '*') return { kind: 'wildcard' };
  if (/^['"]/.test(inner)) {
    const names: string[] = [];
    let rest = inner;
    for (let found = QUOTED.exec(rest); found; found = QUOTED.exec(rest)) {
      names.push(withoutEscapes(found[1] ?? found[2] ?? ''));
      rest = rest.slice(found[0].length);
    }
    if (rest === '') return { kind: 'fields', names };
  }
  if (/^-?\d+(?:\s*,\s*-?\d+)*$/.test(inner)) return { kind: 'indexes', at: inner.split(',').map(Number) };
  const slice = /^(-?\d*):(-?\d*)(?::(\d+))?$/.exec(inner);
  const by = Number(slice?.[3] ?? 1);
  if (slice && by > 0) return { kind: 'slice', from: bound(slice[1]), to: bound(slice[2]), by };
  throw new JsonPathError(`cannot be read at ${JSON.stringify(`[${inner.slice(0, 20)}]`)}`);
}

function bound(text = ''): number | undefined {
  return text === '' ? undefined : Number(text);
}

/** Values that the steps of a template may find in a value, all of them together. */
const MOST_FOUND = 1_000_000;

/** The manifest that a template reads. */
interface Walk {
  readonly root: unknown;
  /** Steps and found values that are left of {@link MOST_FOUND}. */
  remaining: number;
}

/**
 * The texts that a template finds in a value, in order; what is not text is left out.
 *
 * @throws JsonPathError when its steps find too many values
 */
export function textsAt(value: unknown, { paths }: JsonPath): string[] {
  const walk: Walk = { root: value, remaining: MOST_FOUND };
  return paths
    .flatMap((steps) => valuesAt([value], steps, walk))
    .filter((one): one is string => typeof one === 'string');
}

/** The values that steps lead to, from some values. */
function valuesAt(values: readonly unknown[], steps: readonly Step[], walk: Walk): readonly unknown[] {
  return steps.reduce<readonly unknown[]>(
    (found, step) => found.flatMap((value) => countedStep(value, step, walk)),
    values,
  );
}

/** Takes a step. @throws JsonPathError once the steps and the values that they found exceed the limit of a walk */
function countedStep(value: unknown, step: Step, walk: Walk): readonly unknown[] {
  const found = stepInto(value, step, walk);
  walk.remaining -= 1 + found.length;
  if (walk.remaining < 0) throw new JsonPathError(`finds more than ${MOST_FOUND} values in a manifest`);
  return found;
}

/** The values that one step leads to from a value. */
function stepInto(value: unknown, step: Step, walk: Walk): readonly unknown[] {
  switch (step.kind) {
    case 'fields':
      return isObject(value)
        ? step.names.flatMap((name) => (Object.hasOwn(value, name) ? [value[name]] : []))
        : [];
    case 'wildcard':
      return members(value);
    case 'descend':
      return [value, ...descendants(value)];
    case 'indexes':
      return Array.isArray(value) ? step.at.flatMap((at) => pick(value, at)) : [];
    case 'slice':
      return Array.isArray(value) ? value.slice(step.from, step.to).filter((_, i) => i % step.by === 0) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step, walk)) : [];
  }
}

/** The item at an index, in a list of its own; a negative index counts from the end. */
function pick(list: readonly unknown[], at: number): readonly unknown[] {
  const i = at < 0 ? list.length + at : at;
  return i >= 0 && i < list.length ? [list[i]] : [];
}

function members(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

/** Everything in a value, each before what is in it. */
function descendants(value: unknown): readonly unknown[] {
  return members(value).flatMap((member) => [member, ...descendants(member)]);
}

/**
 * Whether a filter keeps an item. As in kubectl, an item that lacks one of the values fails every comparison. Only two numbers
 * or two texts have an order.
 */
function passes(
  item: unknown,
  { left, operator, right }: Extract<Step, { kind: 'filter' }>,
  walk: Walk,
): boolean {
  const [a, b] = [left, right].map((operand) =>
    'value' in operand ? operand.value : valuesAt([item], operand.steps, walk)[0],
  );
  if (operator === 'exists') return a !== undefined;
  if (a === undefined || b === undefined) return false;
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  const areNumbers = typeof a === 'number' && typeof b === 'number';
  const areTexts = typeof a === 'string' && typeof b === 'string';
  if (!areNumbers && !areTexts) return false;
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}
