import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEEPEST } from '../../../catalog/json.ts';
import { compose } from '../../../catalog/yaml/compose.ts';
import { compareKeys, EmitError, emitPortableYaml, emitYaml, sortKeys } from '../../../catalog/yaml/emit.ts';
import { readTree } from '../../../catalog/yaml/parser.ts';
import { runs } from '../../fakes/runs.ts';

/** JSON with the YAML that sigs.k8s.io/yaml 1.6.0 makes of it, or the words in which it refuses it. */
const ROWS = JSON.parse(
  readFileSync(new URL('./fixtures/json-to-yaml.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly (readonly [json: string, yaml: string])[]>>;

describe.each(Object.entries(ROWS))('%s, as Go writes them', (_, rows) => {
  test.each(rows)('%j', (json, yaml) => {
    const value = JSON.parse(json);
    if (/^yaml: /.test(yaml)) expect(() => emitYaml(value)).toThrow(EmitError);
    else expect(emitYaml(value)).toBe(yaml);
  });
});

describe('119: what readers of YAML take for another type is quoted in documents of our own', () => {
  test.each([
    ...['~', '=', '<<', 'null', 'yes', 'on', 'y', '2024-13-45', '2024-1-1', '2024-02-30T25:00:00Z'],
    ...['0b_', '0x_f', '0o7_', '1__', '09', '1e999', '1_0.5', '.5_', '1:20', '99999999999999999999999'],
  ])('%s', (text) => {
    const pairs = [[text, text]] as const;
    expect(emitPortableYaml(Object.fromEntries(pairs))).toBe(`"${text}": "${text}"\n`);
    expect(emitPortableYaml([text])).toBe(`- "${text}"\n`);
  });

  test('other texts and values are as Go writes them', () => {
    const value = { '1.0.0': ['v1', '>=1.0.0', '~a', 'a: b', ''], a: 1, b: true, c: null, 'd.e/f': 'x\ny\n' };
    expect(emitPortableYaml(value)).toBe(emitYaml(value));
    expect(emitYaml(['='])).toBe('- =\n');
  });
});

describe('what cannot be written is named', () => {
  test.each<[string, (string | number)[], string]>([
    [
      '{"a":{"b":[1,{"c":"x\\u007f"}]}}',
      ['a', 'b', 1, 'c'],
      'control characters are not allowed: found U+007F',
    ],
    ['{"a":{"\\uffff":1}}', ['a', '\uffff'], 'control characters are not allowed: found U+FFFF'],
    ['["\\u0080"]', [0], 'found U+0080'],
    ['{"a\\u0085":1}', ['a\u0085'], 'a key must not hold the line break U+0085'],
    [`{"${'k'.repeat(2000)}":1}`, ['k'.repeat(2000)], 'a key of more than 1024 characters'],
    ['["a\\u0085--- b"]', [0], 'found unexpected document indicator'],
    ['[1e999]', [0], 'Infinity is not a valid JSON number'],
  ])('%j', (json, path, message) => {
    const error = refusal(JSON.parse(json));
    expect(error.path).toEqual(path);
    expect(error.message).toContain(message);
  });

  test('nesting beyond reason', () => {
    let value: unknown = 'x';
    for (let i = 0; i <= DEEPEST; i++) value = i % 2 === 0 ? [value] : { k: value };
    expect(refusal(value).message).toBe(`collections are nested deeper than ${DEEPEST} levels`);
  });
});

test('halves of surrogate pairs become U+FFFD, as on their way into Go', () => {
  expect(emitYaml({ k: '\ud83d', l: 'a\udc00\n' })).toBe('k: \ufffd\nl: |\n  a\ufffd\n');
});

test('own keys of any name are written', () => {
  expect(emitYaml(JSON.parse('{"__proto__":{"a":1},"constructor":2}'))).toBe(
    '__proto__:\n  a: 1\nconstructor: 2\n',
  );
});

test('what is written reads back as what it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }), (generated) => {
      const json = JSON.stringify(generated);
      fc.pre(!/[\x7f-\x9f\ufffe\uffff]/.test(json));
      const value = JSON.parse(json);
      expect(compose(readTree(emitYaml(value), { depth: 100 }).root).value).toEqual(value);
    }),
    runs(100),
  );
});

test.each([
  ['line feeds before text', `${'\n'.repeat(300_000)}x`],
  ['spaces beside a U+0085', `\u0085${' '.repeat(500_000)}x`],
  ['single quotes', "' ".repeat(200_000)],
  ['escapes', '\t '.repeat(200_000)],
  ['words', 'word '.repeat(500_000)],
])(
  '%s take no more time than their length asks',
  (_, text) => {
    // Quadratic work on any of these would take minutes.
    expect(emitYaml({ k: text }).length).toBeGreaterThan(2);
  },
  60_000,
);

function refusal(value: unknown): EmitError {
  try {
    emitYaml(value as never);
  } catch (error) {
    if (error instanceof EmitError) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('sortKeys', () => {
  test.each([
    ['letters by code point', ['A', 'B', 'a', 'b', 'é', 'Ω', '日']],
    ['prefixes first', ['', 'a', 'ab', 'abc']],
    ['what is no letter before letters, digits last', ['-', '.', '_', '😀', '1', 'a']],
    ['digits as numbers', ['v1', 'v2', 'v10', 'v10.2', 'v10.10', 'v11']],
    ['zeros before a number do not count, fewer digits first', ['a1', 'a01', 'a001', 'a2', 'a02']],
    ['zeros in a number do', ['a1', 'a10', 'a100', 'a101']],
    ['digits of any script', ['a٣', 'a٤', 'a٣٣']],
    ['characters, not the halves of them', ['\uffee', '\u{1f600}', '\u{1f601}']],
  ])('%s: %j', (_, keys) => {
    expect(sortKeys([...keys])).toEqual(keys);
    expect(sortKeys([...keys].reverse())).toEqual(keys);
  });

  test('numbers overflow as an int64 does', () => {
    expect(sortKeys(['1', '9223372036854775808'])).toEqual(['9223372036854775808', '1']);
  });
});

test('either of two different keys comes first, whichever is asked first', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'B', '0', '1', '9', '-', 'é', '٣', '😀') });
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(-Math.sign(compareKeys(b, a)) + 0);
      if (a !== b) expect(compareKeys(a, b)).not.toBe(0);
    }),
  );
});
