import { describe, expect, test } from 'vitest';
import { type Cel, loadCel } from '../../../catalog/fbc/cel.ts';

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
