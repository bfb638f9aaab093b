import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DEEPEST } from '../../../catalog/json.ts';
import { compose } from '../../../catalog/yaml/compose.ts';
import { readFast } from '../../../catalog/yaml/fast.ts';
import { readTree } from '../../../catalog/yaml/parser.ts';
import { YamlError, type YamlNode } from '../../../catalog/yaml/tree.ts';

/** Texts with the JSON that sigs.k8s.io/yaml 1.6.0 makes of them, or the words in which it refuses them. */
const ROWS = JSON.parse(
  readFileSync(new URL('./fixtures/yaml-to-json.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly (readonly [yaml: string, answer: string])[]>>;

const LIMITS = { depth: 100 };

describe.each(Object.entries(ROWS))('%s, as Go reads them', (_, rows) => {
  test.each(rows)('%j', (yaml, answer) => {
    expect(answerTo(yaml)).toEqual(parsedOr(answer));
    const fast = readFast(yaml, 0, yaml.length, 1);
    if (fast && !/^(?:---|\.\.\.)/m.test(yaml)) expect(fast.value).toEqual(JSON.parse(answer));
  });
});

describe('places', () => {
  test.each([
    ['a: "x', 3, 'found unexpected end of stream: the quote that opens here is never closed'],
    ['a:\n  b\n  c: d', 10, 'mapping values are not allowed in this context: text with ": " needs quotes'],
    ['a: b\nc\nd: e', 5, "could not find expected ':': the text that begins here is indented like a key"],
    ['a:\n\tb: c', 3, 'found character that cannot start any token: a tab cannot indent'],
    ['a: @b', 3, 'found character that cannot start any token: text with @ needs quotes'],
    ['a: [b, c\nd: e', 3, "did not find expected ',' or ']'"],
    ['a:\n  b: c\n d: e', 11, 'did not find expected key: the indentation fits neither'],
    ['a: "\\/"', 4, 'found unknown escape character: "\\\\/" means nothing in YAML 1.1'],
    ['ok: 1\na: \u0001', 9, 'control characters are not allowed: found U+0001'],
    ['a: *b', 3, 'unknown anchor "b"'],
    ['%YAML 1.2\n---\na: b', 0, 'found incompatible YAML document of version 1.2'],
  ])('%j is refused at its offset %i', (yaml, offset, message) => {
    const error = refusal(yaml);
    expect(error.offset).toBe(offset);
    expect(error.message).toContain(message);
  });

  test('nodes stand where their text begins, behind a byte-order mark too', () => {
    const { root } = readTree('\ufeffa: &x\n  - "b"\n  - {c: d}\n', LIMITS);
    expect(places(root)).toEqual([1, 1, 9, 11, 19, 20, 23]);
  });

  test('scalars keep their digits', () => {
    const { root } = readTree('n: 9223372036854775807', LIMITS);
    expect(root).toMatchObject({ pairs: [{ value: { text: '9223372036854775807', plain: true, tag: '' } }] });
  });
});

describe('text that is never read', () => {
  test.each([
    ['a: b\n', undefined],
    ['a: b\n...\n', undefined],
    ['a: b\n...\n# c\n\n...\n', undefined],
    ['a: b\n... # c\n  d: e\n', 'd: e\n'],
    ['{a: b}\n{c: d}\n', '{c: d}\n'],
    ['{a: b} # c\n# d\n', undefined],
    ['a: b\n---\nc: d\n', '---\nc: d\n'],
    ['[]: x\n', ': x\n'],
    ["'a'\n: b", ': b'],
    ['', undefined],
  ])('%j: %j', (yaml, ignored) => {
    const { ignoredFrom } = readTree(yaml, LIMITS);
    expect(ignoredFrom < 0 ? undefined : yaml.slice(ignoredFrom)).toBe(ignored);
  });
});

describe('hostile text', () => {
  const many = 100_000;
  test.each([
    ['[', '['.repeat(many)],
    ['{a: ', '{a: '.repeat(many)],
    ['- ', '- '.repeat(many)],
    ['? ', '? '.repeat(many)],
    ['a:', Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('nesting by %j ends in an error', (_, yaml) => {
    expect(refusal(yaml).message).toBe('collections are nested deeper than 100 levels');
  });

  test('nesting that is allowed is read', () => {
    const { root } = readTree('['.repeat(DEEPEST) + ']'.repeat(DEEPEST), { depth: Number.MAX_SAFE_INTEGER });
    expect(JSON.stringify(compose(root).value)).toHaveLength(2 * DEEPEST);
  });

  test("Go's own limit counts where the caller's is higher", () => {
    const { message, original } = refusal('- '.repeat(many), Number.MAX_SAFE_INTEGER);
    expect(message).toBe(`collections are nested deeper than ${DEEPEST} levels`);
    expect(original).toBeUndefined();
  });

  test.each([
    ['a key is looked for over 1024 characters', `${'k'.repeat(1024)}: v`, `{"${'k'.repeat(1024)}":"v"}`],
    ['and no further', `${'k'.repeat(1025)}: v`, 'yaml: mapping values are not allowed in this context'],
    ['characters are counted, not their halves', `${'😀'.repeat(1024)}: v`, `{"${'😀'.repeat(1024)}":"v"}`],
    ['in quotes too', `"${'k'.repeat(1023)}": v`, 'yaml: mapping values are not allowed in this context'],
  ])('%s', (_, yaml, answer) => expect(answerTo(yaml)).toEqual(parsedOr(answer)));
});

/** What we make of a text: its value, or the words in which Go would refuse it. */
function answerTo(yaml: string): unknown {
  try {
    return compose(readTree(yaml, LIMITS).root).value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return error.original;
  }
}

function parsedOr(answer: string): unknown {
  return /^(?:yaml|json|unsupported map key)/.test(answer) ? answer : JSON.parse(answer);
}

function refusal(yaml: string, depth: number = LIMITS.depth): YamlError {
  try {
    compose(readTree(yaml, { depth }).root);
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error(`not refused: ${yaml.slice(0, 100)}`);
}

/** Offsets of a node and of all in it, in the order of the text. */
function places(node: YamlNode | undefined): number[] {
  switch (node?.kind) {
    case 'sequence':
      return [node.start, ...node.items.flatMap(places)];
    case 'mapping':
      return [node.start, ...node.pairs.flatMap(({ key, value }) => [...places(key), ...places(value)])];
    default:
      return node ? [node.start] : [];
  }
}
