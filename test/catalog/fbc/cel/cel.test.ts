import { describe, expect, test } from 'vitest';
import { type Cel, loadCel } from '../../../../catalog/fbc/cel/cel.ts';

const PROPERTIES = [
  { type: 'olm.package', value: { packageName: 'p', version: '1.2.3' } },
  { type: 'certified', value: 'gold' },
  { type: 'number', value: 3 },
];

async function evaluate(rule: string): Promise<boolean | undefined> {
  const compiled = (await loadCel()).compile(rule);
  return compiled?.(PROPERTIES);
}

describe('rules over the properties of a bundle', () => {
  test.each([
    ["properties.exists(p, p.type == 'certified' && p.value == 'gold')", true],
    ["properties.exists(p, p.type == 'other')", false],
    ["properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '1.2') > 0)", true],
    [
      "properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, 'v2.0.0') >= 0)",
      false,
    ],
    ["properties.exists(p, p.type == 'number' && p.value > 2)", true],
    // What cannot be evaluated is not satisfied, unless it does not matter.
    ["properties.exists(p, p.value.version == '1.2.3')", true],
    ["properties.all(p, p.value.version == '1.2.3')", false],
    ['true', true],
  ])('%s: %s', async (rule, answer) => expect(await evaluate(rule)).toBe(answer));

  test.each([
    ['1', 'cel expressions must have type Bool'],
    ['properties[0].value', 'cel expressions must have type Bool'],
    ['unknown(1)', "found no matching overload for 'unknown(int)'"],
    ['properties.exists(p', 'Expected'],
  ])('refuses %s', async (rule, message) => {
    const cel: Cel = await loadCel();
    expect(() => cel.compile(rule)).toThrow(message);
  });

  test('does not begin what may take for ever', async () => {
    const nested = (depth: number): string =>
      depth === 0 ? 'true' : `properties.all(p${depth}, ${nested(depth - 1)})`;
    expect(await evaluate(nested(1))).toBe(true);
    expect(await evaluate(nested(6))).toBeUndefined();
  });

  test.each([
    ['nests deeply', `${'('.repeat(60)}true${')'.repeat(60)}`],
    ['nests very deeply', `${'!'.repeat(20_000)}true`],
    ['has many parts', Array.from({ length: 600 }, () => 'true').join(' && ')],
  ])('44: says nothing of a rule that %s, which OLM may read', async (_, rule) => {
    expect(await evaluate(rule)).toBeUndefined();
  });

  test.each([
    ["properties.exists(p, p.type.matches('^cert'))", true],
    ["properties.exists(p, matches(p.type, '[[:upper:]]'))", false],
    ["'ab'.matches('(?i:B)$')", true],
    ["'a'.matches('(a+)+$')", true],
    ["matches('\u212a', '(?i)k')", true],
  ])('patterns are those of Go: %s: %s', async (rule, answer) => expect(await evaluate(rule)).toBe(answer));

  test('does not match what it cannot bound: a pattern from a property, one that is too large, one that Go refuses', async () => {
    expect(await evaluate('properties.exists(p, p.type.matches(p.type))')).toBeUndefined();
    expect(await evaluate("'a'.matches('(a{100}){10}')")).toBeUndefined();
    expect(await evaluate("'a'.matches('(?=a)')")).toBeUndefined();
  });

  test('a type error names the function of the rule', async () => {
    const cel: Cel = await loadCel();
    expect(() => cel.compile("matches(1, 'a')")).toThrow(
      "found no matching overload for 'matches(int, string)'",
    );
  });
});

describe('attack 44: what a rule may cost', () => {
  const doubled = (list: string, times: number): string =>
    `${list}${'.map(x, x + x)'.repeat(times)}.size() >= 0`;

  test.each([
    ['lists that double', doubled('[[1]]', 27)],
    ['lists of properties that double', doubled('[properties]', 27)],
    ['texts that double', doubled("['a']", 27)],
    ['lists of lists', `[[1]]${'.map(x, [x, x])'.repeat(27)} == [[1]]`],
    ['maps of maps', `[{'a': 1}]${".map(x, {'a': x, 'b': x})".repeat(27)}.size() > 0`],
    ['a list in each step of a list', `properties${'.map(x, properties)'.repeat(4)}.size() > 0`],
  ])('is estimated before the rule runs: %s', async (_, rule) => {
    expect(rule.length).toBeLessThan(1000);
    expect(await evaluate(rule)).toBeUndefined();
  });

  test.each([
    ['steps', 'properties.exists(p, p.value.exists(a, a < 0.0))'],
    ['comparisons of large values', 'properties.all(q, q.value == q.value && q.value == q.value)'],
    ['lists that are made', 'properties.all(p, (p.value + p.value + p.value).size() > 0)'],
    ['texts that are made', "properties.all(p, (p.type + p.type) != '')"],
  ])('is counted while the rule runs: %s', async (_, rule) => {
    const compiled = (await loadCel()).compile(rule);
    const value = Array.from({ length: 20_000 }, (_, i) => i);
    const properties = Array.from({ length: 30 }, () => ({ type: 'x'.repeat(3_000_000), value }));
    expect(() => compiled?.(properties)).toThrow('the rule is too expensive to evaluate here');
    expect(compiled?.([{ type: 'x', value: [1, 2] }])).toEqual(expect.any(Boolean));
  });

  test.each(['duration', 'timestamp', 'int', 'uint', 'double', 'bool'])(
    'a long text is not given to %s, which parses it with more than its length',
    async (name) => {
      const cel = await loadCel();
      const parsed = (text: string) => cel.compile(`${name}('${text}') == ${name}('${text}')`)?.([]);
      expect(() => parsed(`${'0'.repeat(1500)}um`)).toThrow('the rule is too expensive to evaluate here');
      expect(parsed('none of them')).toBe(false);
    },
  );

  test('durations are compared', async () => {
    expect(await evaluate("duration('60s') == duration('1m')")).toBe(true);
  });

  test('has a limit for all rules together', async () => {
    const rule = (await loadCel()).compile('properties.all(p, p.value.all(a, a >= 0.0))');
    const properties = [{ type: 'x', value: Array.from({ length: 100_000 }, (_, i) => i) }];
    let times = 0;
    expect(() => {
      for (; times < 1000; times++) rule?.(properties);
    }).toThrow('the rule is too expensive');
    expect(times).toBeGreaterThan(50);
  });

  test('counts what patterns take for each character, and does not take an error for false', async () => {
    const pattern = "p.value.matches('(a|aa|[a-z]{1,9}){1,12}x')";
    const rule = (await loadCel()).compile(`properties.exists(p, ${pattern} || p.type == 'x')`);
    const properties = [{ type: 'x', value: 'a'.repeat(9000) }];
    let times = 0;
    expect(() => {
      for (; times < 1000; times++) rule?.(properties);
    }).toThrow(/too expensive|too many steps/);
    expect(times).toBeLessThan(40);
  });

  test.each(["'a'.split('')", "['a'].join('b')", 'cel.bind(x, 1, x)'])(
    'functions that OLM does not know are errors: %s',
    async (part) => {
      const cel = await loadCel();
      expect(() => cel.compile(`${part} == ${part}`)).toThrow('undeclared reference to');
    },
  );
});
