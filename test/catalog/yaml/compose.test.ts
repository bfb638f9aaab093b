import { describe, expect, test } from 'vitest';
import { type Composed, compose } from '../../../catalog/yaml/compose.ts';
import { readTree } from '../../../catalog/yaml/parser.ts';
import { YamlError } from '../../../catalog/yaml/tree.ts';

// What values mean is in the rows of parser.test.ts; here is what JSON does not show.

describe('duplicate keys', () => {
  test('the last counts, and every other is named with its places', () => {
    const { value, duplicates } = read('a: 1\nb:\n  x: 1\n  x: 2\na: 2\na: 3\n');
    expect(value).toEqual({ a: 3, b: { x: 2 } });
    expect(duplicates).toEqual([
      { key: 'x', first: 10, again: 17 },
      { key: 'a', first: 0, again: 22 },
      { key: 'a', first: 0, again: 27 },
    ]);
  });

  test('keys that Go prints alike are one', () => {
    expect(read('yes: 1\non: 2\n"true": 3').duplicates.map(({ key }) => key)).toEqual(['true', 'true']);
  });

  test('what a merge brings is no duplicate', () => {
    expect(read('a: &a {x: 1}\nb:\n  x: 2\n  <<: *a').duplicates).toEqual([]);
  });
});

describe('locate', () => {
  const text = 'a: &a\n  x: 1\n  v: [p, "", q]\nb:\n  <<: *a\n  z: {}\nc:\n- <<: [*a, {w: 2}]\nd: *a\n';
  test.each<[(string | number)[], string]>([
    [[], 'a: &a'],
    [['a'], 'a: &a'],
    [['a', 'x'], '1'],
    [['a', 'v'], 'v: [p'],
    [['a', 'v', 1], '""'],
    [['a', 'v', 2], 'q]'],
    [['a', 'v', 3], 'v: [p'],
    [['a', 'none'], 'a: &a'],
    [['b', 'z'], 'z: {}'],
    [['b', 'x'], '1'],
    [['b', 'v', 0], 'p,'],
    [['c', 0, 'w'], '2}'],
    [['c', 0, 'x'], '1'],
    [['d', 'x'], '1'],
    [['d'], 'd: *a'],
  ])('%j stands at %j', (path, begins) => {
    const offset = read(text).locate(path);
    expect(text.slice(offset, offset + begins.length)).toBe(begins);
  });

  test('the last of equal keys is the one that counts', () => {
    expect(read('a: 1\na: 2').locate(['a'])).toBe(8);
  });

  test('mappings that merge each other over and over are searched once each', () => {
    const lines = ['m0: &m0 {a: b}'];
    for (let i = 1; i < 7; i++) lines.push(`m${i}: &m${i} {<<: [*m${i - 1}, *m${i - 1}, {k${i}: v}]}`);
    const { locate } = read(lines.join('\n'));
    expect(locate(['m6', 'none'])).toBe(locate(['m6']));
  });
});

describe('hostile documents', () => {
  test('__proto__ is a key like any other', () => {
    const { value } = read('__proto__: {polluted: true}\nconstructor: {}\n<<: {__proto__: 1}');
    expect(Object.entries(value as object)).toEqual([
      ['__proto__', 1],
      ['constructor', {}],
    ]);
    expect({}).not.toHaveProperty('polluted');
  });

  test('an alias bomb is refused as Go refuses it', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}]`);
    expect(refusal(lines.join('\n')).original).toBe('yaml: document contains excessive aliasing');
  });

  test('so is a bomb of merges', () => {
    const lines = ['m0: &m0 {a: b}'];
    for (let i = 1; i < 30; i++) lines.push(`m${i}: &m${i} {<<: [*m${i - 1}, *m${i - 1}]}`);
    expect(refusal(lines.join('\n')).original).toBe('yaml: document contains excessive aliasing');
  });

  test('few aliases of much text are too much text', () => {
    const yaml = `a: &a ${'x'.repeat(1 << 20)}\nb: [${'*a, '.repeat(300)}]`;
    expect(refusal(yaml)).toMatchObject({
      message: expect.stringContaining('aliases repeat'),
      original: undefined,
    });
  });

  test('aliases cannot make a document deeper than it may be', () => {
    const lines = [`a0: &a0 ${'['.repeat(90)}${']'.repeat(90)}`];
    for (let i = 1; i < 20; i++) lines.push(`a${i}: &a${i} ${'['.repeat(90)}*a${i - 1}${']'.repeat(90)}`);
    expect(refusal(lines.join('\n')).message).toContain('nested deeper than');
  });

  test.each(['.inf', '{~: 1}'])('45: %s, which JSON does not have, is found below many lists', (bad) => {
    const text = `v: ${'['.repeat(980)}${'1,'.repeat(150_000)}${bad}${']'.repeat(980)}`;
    expect(() => compose(readTree(text, { depth: 1000 }).root)).toThrow();
  });

  test('what is wrong but overwritten is not seen, as in Go', () => {
    expect(read('a: .inf\nb: {~: 1}\na: 1\nb: 2').value).toEqual({ a: 1, b: 2 });
  });
});

function read(yaml: string): Composed {
  return compose(readTree(yaml, { depth: 100 }).root);
}

function refusal(yaml: string): YamlError {
  try {
    read(yaml);
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error('not refused');
}

test('the places of all keys of a mapping are found in one walk over it', () => {
  const { root } = readTree(Array.from({ length: 500 }, (_, i) => `k${i}: v\n`).join(''), { depth: 10 });
  if (root?.kind !== 'mapping') throw new Error('no mapping');
  let walked = 0;
  const pairs = root.pairs.map(({ key, value }) => ({
    get key() {
      walked++;
      return key;
    },
    value,
  }));
  const { locate } = compose({ ...root, pairs });
  walked = 0;
  const places = root.pairs.map((_, i) => locate([`k${i}`]));
  expect(places).toEqual(root.pairs.map(({ value }) => value.start));
  expect(walked).toBeLessThan(10 * 500);
});
