/** The stored record of rings with each of its fields spoiled: one clear error, and no ring opens. */
import { expect, test } from 'vitest';
import { isObject } from '../../../../catalog/go/shape.ts';
import { PipelineError } from '../../../../pipeline/error.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { parseRings, timeOf } from '../../../../pipeline/publish/rings/read.ts';
import { type RingState, ringsText } from '../../../../pipeline/publish/rings/state.ts';
import { recordRings, ringsIn } from '../../../../pipeline/publish/rings/store.ts';
import { folder } from '../../../fakes/folder.ts';

const RING = 'registry.example.com/sea/catalog:v4.20';
const AT = '2027-01-05T12:00:00.000Z';
const IMAGE = { epoch: 0, commit: 'a'.repeat(40), digest: `sha256:${'b'.repeat(64)}` };
const ACT = { at: AT, by: 'anna', why: 'loses data' };
const WHOLE: RingState = {
  ...{ v: 1, catalog: 'v4.20', clock: AT },
  rings: [
    { ring: `${RING}-canary`, tag: 'v4.20-canary', image: IMAGE },
    { ring: RING, tag: 'v4.20', image: undefined },
  ],
  arrivals: [{ ring: `${RING}-canary`, at: AT, ...IMAGE }],
  opened: [{ ring: RING, ...ACT, ...IMAGE, early: true, asked: AT }],
  holds: [{ ...ACT, commit: IMAGE.commit, bundle: 'etcd.v1.2.0' }, ACT],
  approvals: [{ ring: RING, ...ACT, ...IMAGE, asked: AT }],
  waits: [{ ring: RING, ...IMAGE, at: AT, opens: AT, why: ['soaks'], packages: ['etcd'] }],
  events: [{ what: 'held', ...ACT, ring: RING, commit: IMAGE.commit, bundle: 'etcd.v1.2.0', asked: AT }],
};
const OPTIONAL = /(?:image|early|asked|\.bundle|holds\[0\]\.commit|events\[0\]\.(?:ring|commit))$/;

type Path = readonly (string | number)[];

/** Where every value of the record is. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  const inside = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  const key = (name: string): string | number => (Array.isArray(value) ? Number(name) : name);
  return [
    ...(at.length === 0 ? [] : [at]),
    ...inside.flatMap(([name, one]) => pathsOf(one, [...at, key(name)])),
  ];
}

function textOf(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .slice(1);
}

/** The stored text with another value at a path; without the field where that is undefined. */
function spoiled(path: Path, value: unknown): string {
  const whole = JSON.parse(ringsText(WHOLE));
  const last = path.at(-1) ?? '';
  const owner = path.slice(0, -1).reduce((one, key) => one[key], whole);
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return JSON.stringify(whole);
}

function refusal(text: string, catalog?: string): PipelineError {
  try {
    parseRings(text, 'rings/v4.20/x', catalog);
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'corrupt') return error;
    throw error;
  }
  throw new Error(`was read: ${text}`);
}

test('a whole record is read as it was written', () => {
  expect(parseRings(ringsText(WHOLE), 'x', 'v4.20')).toEqual(JSON.parse(ringsText(WHOLE)));
});

const PATHS = pathsOf(JSON.parse(ringsText(WHOLE)));

test('every field is spoiled', () => expect(PATHS.length).toBeGreaterThan(60));

/** What may stand anywhere in JSON, and is right almost nowhere. */
const SPOILS: readonly unknown[] = [null, -1, 1.5, true, '', {}, [], [null], { toString: 1 }];

test.each(PATHS.map((path) => [textOf(path), path] as const))('%s is refused by name', (name, path) => {
  const right = path.reduce<unknown>((one, key) => Object(one)[key], WHOLE);
  for (const value of SPOILS) {
    // A list may be empty.
    if (value === right || (Array.isArray(right) && Array.isArray(value) && value.length === 0)) continue;
    const { message, hint } = refusal(spoiled(path, value));
    expect(message).toContain(`cannot read the rings in rings/v4.20/x: ${name}`);
    expect(message).toMatch(/(?:found .+|missing), expected ./);
    expect(hint).toContain('no ring opens until then');
  }
  if (typeof path.at(-1) === 'number') return;
  const without = spoiled(path, undefined);
  if (OPTIONAL.test(name)) parseRings(without, 'x');
  else expect(refusal(without).message).toContain(`${name}: missing, expected `);
});

test.each<[string, Path, unknown, string]>([
  ['a short commit ID', ['holds', 0, 'commit'], 'abc', 'found "abc", expected a commit ID'],
  ['a digest of another algorithm', ['opened', 0, 'digest'], `sha512:${'b'.repeat(64)}`, 'expected a digest'],
  ['an epoch that is no whole number', ['arrivals', 0, 'epoch'], 2 ** 60, 'expected a number from 0 on'],
  ['the beginning of time', ['arrivals', 0, 'at'], '1970-01-01T00:00:00.000Z', 'expected a time from 2025'],
  ['a year that no date has', ['clock'], '+275760-09-13T00:00:00.001Z', 'expected a time from 2025'],
  ['the last year of all', ['arrivals', 0, 'at'], '9999-12-31T23:59:59.999Z', 'expected a time from 2025'],
  ['a day that no month has', ['arrivals', 0, 'at'], '2027-02-30T00:00:00.000Z', 'expected a time from 2025'],
  ['a time without a zone', ['arrivals', 0, 'at'], '2027-01-05T12:00:00', 'expected a time from 2025'],
  ['what Date.parse takes', ['arrivals', 0, 'at'], '1', 'expected a time from 2025'],
  ['a tag with a path', ['rings', 0, 'tag'], '../../v4.20', 'found "../../v4.20", expected a tag'],
  ['a tag with a command', ['rings', 0, 'tag'], 'v4.20; rm -rf /', 'expected a tag'],
  ['a tag of 129 characters', ['rings', 0, 'tag'], 'v'.repeat(129), 'expected a tag'],
  ['a tag that a terminal obeys', ['rings', 0, 'tag'], 'v\u001b[2J\u202e', 'expected a tag'],
  ['an event of another version', ['events', 0, 'what'], 'forgotten', 'found "forgotten", expected what'],
])('%s', (_, path, value, expected) => {
  const { message } = refusal(spoiled(path, value));
  expect(message).toContain(`${textOf(path)}: `);
  expect(message).toContain(expected);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(message).not.toMatch(/[\x00-\x1f\u202e]/);
  expect(message.length).toBeLessThan(250);
});

test.each([
  ['', 'found "", expected JSON'],
  ['{"v":1,', 'expected JSON'],
  ['null', 'found null, expected an object'],
  ['[]', 'found [], expected an object'],
  ['{"v":"1"}', 'v: found "1", expected 1'],
  ['{"__proto__":{"v":1}}', 'v: missing, expected 1'],
  ['{"v":2}', 'found version 2, expected version 1'],
])('%s is not a record', (text, expected) => {
  expect(refusal(text).message).toContain(expected);
});

test('a record of a newer version says to run that version', () => {
  expect(refusal('{"v":2}').hint).toContain('a newer Portolan wrote it');
});

test('a record of another catalog is not read for this one', () => {
  expect(refusal(ringsText(WHOLE), 'v4.19').message).toContain('catalog: found "v4.20", expected "v4.19"');
});

test('one record that cannot be read hides no other catalog', async () => {
  const records = directoryRecords(folder());
  const store = recordRings(records, 'v4.20', 'v4.20/x');
  await store.replace(WHOLE, undefined);
  await records.put('rings/v4.19/x', new TextEncoder().encode('{}'));
  const { rings, errors } = await ringsIn(records);
  expect(rings.map(({ catalog }) => catalog)).toEqual(['v4.20']);
  expect(errors.map(({ message }) => message)).toEqual([
    'cannot read the rings in rings/v4.19/x: v: missing, expected 1',
  ]);
});

test.each([0, Date.UTC(2024, 11, 31), Date.UTC(3000, 0), Number.NaN])(
  'a clock at %d writes no time',
  (time) => {
    expect(() => timeOf(new Date(time))).toThrow('the clock of this machine is wrong');
  },
);
