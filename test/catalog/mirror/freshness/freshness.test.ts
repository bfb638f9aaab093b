/** What a signed statement about a mirror says of it: TUF's attacks by name, and what is not one. */
import { describe, expect, test } from 'vitest';
import {
  acceptedText,
  acceptedWith,
  type FreshnessStatement,
  freshnessFindings,
  freshnessText,
  InvalidFreshness,
  isAcceptable,
  readAccepted,
  readFreshness,
  type SignedStatement,
} from '../../../../catalog/mirror/freshness/freshness.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const INDEX = 'mirror.example:5000/olm/index:v4.20';
const BUNDLE = 'mirror.example:5000/olm/bundle:abc';
const at = (day: number, time = '00:00:00'): Date =>
  new Date(`2026-01-${String(day).padStart(2, '0')}T${time}Z`);
const NONE = { seenAt: undefined, indexes: new Map() };

function signed(differing: Partial<FreshnessStatement> = {}, letter = 'f'): SignedStatement {
  const statement: FreshnessStatement = {
    version: 10,
    madeAt: at(1),
    freshUntil: at(8),
    indexes: new Map([[INDEX, digest('a')]]),
    images: new Map([
      [INDEX, digest('a')],
      [BUNDLE, digest('b')],
    ]),
    missing: [],
    ...differing,
  };
  return { version: statement.version, digest: digest(letter), statement, by: 'key 1' };
}

function check(one: SignedStatement, differing: Partial<Parameters<typeof freshnessFindings>[1]> = {}) {
  return freshnessFindings(one, {
    now: at(2),
    accepted: NONE,
    file: 'freshness.json',
    names: [INDEX, BUNDLE],
    found: new Map([
      [INDEX, digest('a')],
      [BUNDLE, digest('b')],
    ]),
    ...differing,
  });
}

const rules = (...asked: Parameters<typeof check>): string[] => check(...asked).map(({ rule }) => rule);
const hints = (...asked: Parameters<typeof check>) => check(...asked).map(({ hint }) => hint);

test('what is written is read again, to the last field', () => {
  const { statement } = signed({
    predecessor: { version: 9, digest: digest('e') },
    missing: ['mirror.example:5000/olm/lost:v1'],
  });
  expect(readFreshness(freshnessText(statement))).toEqual(statement);
});

describe.each([
  ['not JSON', () => '{'],
  ['another type', (json: object) => ({ ...json, predicateType: 'https://slsa.dev/provenance/v1' })],
  ['no subject', (json: object) => ({ ...json, subject: [] })],
])('a statement with %s', (_, change) => {
  test('is refused', () => {
    const changed = change(JSON.parse(freshnessText(signed().statement)));
    const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
    expect(() => readFreshness(text)).toThrow(InvalidFreshness);
  });
});

test.each([
  ['version', 0],
  ['version', 1e300],
  ['version', '10'],
  ['madeAt', '2026-13-01T00:00:00Z'],
  ['madeAt', '+002026-01-01T00:00:00Z'],
  ['madeAt', '2026-1-01T00:00:00Z'],
  ['madeAt', '2026-01-01 00:00:00Z'],
  ['freshUntil', 'tomorrow'],
  ['freshUntil', 1],
  ['predecessor', { version: 10, digest: digest('a') }],
  ['predecessor', { version: 9, digest: 'sha256:0' }],
  ['images', [INDEX]],
  ['images', { [INDEX]: 'sha256:0' }],
  ['images', { '../etc': digest('a') }],
  ['images', { [INDEX]: digest('c') }],
  ['missing', 'all'],
  ['files', digest('d')],
  ['files', { mapping: 'sha256:0' }],
])('a predicate whose %s is %j is refused', (key, value) => {
  const json = JSON.parse(freshnessText(signed().statement));
  json.predicate[key] = value;
  expect(() => readFreshness(JSON.stringify(json))).toThrow(InvalidFreshness);
});

test('a fresh mirror of this very statement has no finding, the first time and again', () => {
  expect(rules(signed())).toEqual([]);
  const accepted = acceptedWith(signed(), NONE, at(2));
  expect(rules(signed(), { accepted })).toEqual([]);
  expect(readAccepted(acceptedText(accepted))).toEqual(accepted);
});

describe('after statement 10 was accepted', () => {
  const accepted = acceptedWith(signed(), NONE, at(2));
  const follows = (version: number, predecessor?: { version: number; digest: string }) =>
    rules(signed({ version, ...(predecessor && { predecessor }) }, 'c'), { accepted });

  test('an older one is a rollback, and nothing else', () => {
    const [found, ...more] = check(signed({ version: 9, freshUntil: at(1) }, 'c'), { accepted });
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      rule: 'mirror/rollback',
      severity: 'error',
      message: `rollback of ${INDEX}: this is statement 9 of 2026-01-01T00:00:00Z, but statement 10 was accepted here before`,
    });
  });

  test('the next one follows it, as do later ones and a new beginning', () => {
    expect(follows(11, { version: 10, digest: digest('f') })).toEqual([]);
    expect(follows(15, { version: 14, digest: digest('0') })).toEqual([]);
    expect(follows(15)).toEqual([]);
  });

  test.each([
    ['with its number', 10, { version: 9, digest: digest('e') }],
    ['that follows another statement 10', 11, { version: 10, digest: digest('0') }],
    ['that follows one before it', 12, { version: 9, digest: digest('e') }],
  ])('another one %s does not follow it', (_, version, predecessor) => {
    expect(follows(version, predecessor)).toEqual(['mirror/forked']);
  });

  test('an older one about another index image is none of its business', () => {
    const other = 'mirror.example:5000/olm/other:v1';
    const images = new Map([[other, digest('a')]]);
    const found = rules(signed({ version: 3, indexes: images, images }), {
      accepted,
      names: [other],
      found: images,
    });
    expect(found).toEqual([]);
  });
});

describe('time', () => {
  test('a statement is stale after its last second, not in it', () => {
    expect(rules(signed(), { now: at(8) })).toEqual([]);
    expect(rules(signed(), { now: at(8, '00:00:01') })).toEqual(['mirror/stale']);
  });

  test('clocks may differ by five minutes, not more', () => {
    expect(rules(signed(), { now: new Date(at(1).getTime() - 300_000) })).toEqual([]);
    expect(rules(signed(), { now: new Date(at(1).getTime() - 300_001) })).toEqual(['mirror/clock']);
  });

  test('a clock that was set back does not make a stale mirror fresh', () => {
    const accepted = { ...NONE, seenAt: at(20) };
    expect(rules(signed(), { accepted, now: at(2) })).toEqual(['mirror/clock']);
    expect(rules(signed(), { accepted, now: at(20) })).toEqual(['mirror/stale']);
  });

  test('how a clock that was ahead once is put right is in the hint', () => {
    const hint = (seenAt: Date) =>
      hints(signed(), { accepted: { ...NONE, seenAt }, now: new Date('2025-12-01') });
    expect(hint(at(20)).join()).toContain('remove "seenAt" from the file that --remember names');
    expect(hint(new Date('2025-12-01')).join()).toBe(
      'correct the clock of this machine, or of the one that signs',
    );
  });

  test('the last check is never forgotten', () => {
    const accepted = acceptedWith(signed(), { ...NONE, seenAt: at(20) }, at(20, '00:00:00'));
    expect(acceptedWith(signed(), accepted, at(19, '23:58:00')).seenAt).toEqual(at(20));
  });
});

describe('a mix of two states', () => {
  const mixed = (differing: Partial<Parameters<typeof freshnessFindings>[1]>) => check(signed(), differing);

  test.each([
    [
      'another image',
      { found: new Map([[BUNDLE, digest('c')]]) },
      `${BUNDLE} is ${digest('c')}, not ${digest('b')}`,
    ],
    ['no image', { found: new Map([[BUNDLE, undefined]]) }, `${BUNDLE} is missing, not ${digest('b')}`],
    [
      'one more',
      { names: [INDEX, BUNDLE, 'mirror.example/a:v1'] },
      'mirror.example/a:v1 is not in the statement',
    ],
    ['one less', { names: [INDEX] }, `${BUNDLE} is not in the mapping`],
  ])('%s is named', (_, differing, why) => {
    expect(mixed(differing)).toEqual([
      expect.objectContaining({
        rule: 'mirror/mixed',
        message: `the mirror mixes two states: ${why}`,
      }),
    ]);
  });

  test('what nobody looked up, and what could not be copied, is not one', () => {
    expect(mixed({ found: new Map() })).toEqual([]);
    const lost = 'mirror.example:5000/olm/lost:v1';
    const names = [INDEX, BUNDLE, lost];
    expect(check(signed({ missing: [lost] }), { names })).toEqual([]);
  });

  test('what could not be copied, and came without a signature, is one', () => {
    const lost = 'mirror.example:5000/olm/lost:v1';
    const found = new Map([[lost, digest('f')]]);
    expect(check(signed({ missing: [lost] }), { names: [INDEX, BUNDLE, lost], found })).toEqual([
      expect.objectContaining({
        rule: 'mirror/mixed',
        message: `the mirror mixes two states: ${lost} is there, but the statement says that it is missing`,
      }),
    ]);
  });
});

test('a genuine statement about another mirror is named as such, and nothing else', () => {
  const names = ['mirror.example:5000/olm/other:v1'];
  expect(rules(signed(), { names, now: at(20) })).toEqual(['mirror/other-statement']);
});

test('a statement beside an index image is about that image, even if it says that the image is missing', () => {
  const other = 'mirror.example:5000/olm/other:v1';
  const names = [INDEX, BUNDLE, other];
  const one = signed({ missing: [other] });
  expect(rules(one, { names, beside: [INDEX] })).toEqual([]);
  expect(check(one, { names, beside: [INDEX, other] })).toMatchObject([
    {
      rule: 'mirror/other-statement',
      message: `the freshness statement is about ${INDEX}, and not about ${other}`,
    },
  ]);
});

test('of two commands at once the newer statement is remembered', () => {
  const newer = acceptedWith(signed({ version: 11 }, 'c'), NONE, at(2));
  expect(acceptedWith(signed(), newer, at(2)).indexes).toEqual(newer.indexes);
  expect(acceptedWith(signed({ version: 12 }), newer, at(2)).indexes.get(INDEX)?.version).toBe(12);
});

test('only what is stale or mixed may take the place of what was accepted', () => {
  expect(isAcceptable(check(signed(), { now: at(20), found: new Map([[INDEX, undefined]]) }))).toBe(true);
  const accepted = acceptedWith(signed(), NONE, at(2));
  expect(isAcceptable(check(signed({ version: 9 }), { accepted }))).toBe(false);
  expect(isAcceptable(check(signed({ version: 10 }, 'c'), { accepted }))).toBe(false);
  expect(isAcceptable(check(signed(), { names: ['mirror.example/other:v1'] }))).toBe(false);
  expect(isAcceptable(check(signed({ madeAt: at(5) })))).toBe(false);
});

test.each(['', '{}', '{"format":"dev.portolan.accepted/v1","indexes":{"a":1}}'])(
  'what was accepted is not forgotten when its file reads %j',
  (text) => {
    expect(() => readAccepted(text)).toThrow(InvalidFreshness);
  },
);
