/**
 * The record of rings as it is stored. Whoever can write where it is stored can write anything, and older or newer
 * versions of Portolan may have: no ring opens over a record with one field that is not as it must be.
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import { plainText } from '../../text.ts';
import type { RingState } from './state.ts';

interface ValueShape {
  readonly kind: 'value';
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

/** What a part of the record must look like. */
type Shape =
  | ValueShape
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'object'; readonly fields: Fields; readonly optional: Fields };

type Fields = Readonly<Record<string, Shape>>;

/** The shape of a text that matches a pattern. */
function textLike(expected: string, pattern: RegExp): ValueShape {
  return { kind: 'value', expected, fits: (value) => typeof value === 'string' && pattern.test(value) };
}

/** The shape of an object. Fields that it does not name may have any value. */
function objectOf(fields: Fields, optional: Fields = {}): Shape {
  return { kind: 'object', fields, optional };
}

/** The shape of a list of objects. */
function listOf(fields: Fields, optional?: Fields): Shape {
  return { kind: 'list', of: objectOf(fields, optional) };
}

/** Before there were rings, and when there are none any more: a clock that says so is not set. */
const [EARLIEST, LATEST] = [Date.UTC(2025, 0), Date.UTC(3000, 0)] as const;

/**
 * The shape of a time from 2025 on. A time outside is of a clock that was not set, and would open a ring at
 * once, or never.
 */
function timeUntil(latest: number): ValueShape {
  return {
    kind: 'value',
    expected: `a time from 2025 ${latest === LATEST ? 'to 2999' : 'on'} such as "2027-01-31T12:00:00.000Z"`,
    fits: (value) => isTime(value) && Date.parse(value) >= EARLIEST && Date.parse(value) < latest,
  };
}

/** Whether a value is a time as `toISOString` writes it. */
function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) && isDate(value);
}

/** Whether a time exists: JavaScript takes February 30 for a day in March. */
function isDate(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
}

/** Any text but the empty one. */
const TEXT = textLike('text', /./su);
const TAG = textLike('a tag', /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/);
const COMMIT = textLike('a commit ID', /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
const DIGEST = textLike('a digest such as sha256:…', /^sha256:[0-9a-f]{64}$/);
const TIME = timeUntil(LATEST);
const EPOCH: Shape = {
  kind: 'value',
  expected: 'a number from 0 on',
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
/** A field that is true or left out. */
const EARLY: Shape = { kind: 'value', expected: 'true', fits: (value) => value === true };
const EVENT = textLike('what happened', /^(?:opened|opened early|approved|held|released)$/);
const IMAGE = { epoch: EPOCH, commit: COMMIT, digest: DIGEST };
const ACT = { at: TIME, by: TEXT, why: TEXT };
const ASKED = { asked: TEXT };
const TEXTS: Shape = { kind: 'list', of: TEXT };

/** The shape of `RingState`. */
const RECORD = objectOf({
  catalog: TEXT,
  clock: {
    kind: 'value',
    expected: TIME.expected,
    // Zero until the rings are read for the first time.
    fits: (value) => value === new Date(0).toISOString() || TIME.fits(value),
  },
  rings: listOf({ ring: TEXT, tag: TAG }, { image: objectOf(IMAGE) }),
  arrivals: listOf({ ring: TEXT, at: TIME, ...IMAGE }),
  opened: listOf({ ring: TEXT, ...ACT, ...IMAGE }, { early: EARLY, ...ASKED }),
  holds: listOf(ACT, { commit: COMMIT, bundle: TEXT }),
  approvals: listOf({ ring: TEXT, ...ACT, ...IMAGE }, ASKED),
  // What opens later than anybody lives is written, too.
  waits: listOf({ ring: TEXT, ...IMAGE, at: TIME, opens: timeUntil(Infinity), why: TEXTS, packages: TEXTS }),
  events: listOf({ what: EVENT, ...ACT }, { ring: TEXT, commit: COMMIT, bundle: TEXT, ...ASKED }),
});

/**
 * Reads the record of a catalog's rings.
 *
 * @param where which record it is, for the message
 * @param catalog whose it must be; any catalog's when undefined
 * @throws PipelineError `corrupt` that names the first field that is not as it must be
 */
export function parseRings(text: string, where: string, catalog?: string): RingState {
  const value = parsedJson(text);
  if (value === undefined) throw unreadable(where, `found ${valueText(text)}, expected JSON`);
  const version = isObject(value) ? value['v'] : undefined;
  if (Number.isSafeInteger(version) && Number(version) > 1) {
    throw new PipelineError(
      'corrupt',
      `cannot read the rings in ${where}: found version ${String(version)}, expected version 1`,
      { hint: 'a newer Portolan wrote it: run that version; no ring opens until then' },
    );
  }
  const defect =
    // What is not an object has no version: its shape says so.
    version === 1 || !isObject(value) ? defectOf(value, RECORD, '') : `v: ${misfit(version, '1')}`;
  if (defect !== undefined) throw unreadable(where, defect);
  const state = value as RingState;
  if (catalog === undefined || state.catalog === catalog) return state;
  throw unreadable(where, `catalog: ${misfit(state.catalog, valueText(catalog))}`);
}

/** The first value that does not match its shape. */
function defectOf(value: unknown, shape: Shape, path: string): string | undefined {
  const wrong = (expected: string): string => `${path === '' ? '' : `${path}: `}${misfit(value, expected)}`;
  switch (shape.kind) {
    case 'value':
      return shape.fits(value) ? undefined : wrong(shape.expected);
    case 'list':
      if (!Array.isArray(value)) return wrong('a list');
      return firstDefect(value.entries(), ([i, one]) => defectOf(one, shape.of, `${path}[${i}]`));
    case 'object': {
      if (!isObject(value)) return wrong('an object');
      const under = (name: string): string => (path === '' ? name : `${path}.${name}`);
      const optional = Object.entries(shape.optional).filter(([name]) => value[name] !== undefined);
      return firstDefect([...Object.entries(shape.fields), ...optional], ([name, inner]) =>
        defectOf(value[name], inner, under(name)),
      );
    }
  }
}

/** What a field has, and what it should have. */
function misfit(found: unknown, expected: string): string {
  return `${found === undefined ? 'missing' : `found ${valueText(found)}`}, expected ${expected}`;
}

/** The first defect that a check finds; undefined if all pass. */
function firstDefect<T>(all: Iterable<T>, defect: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = defect(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Characters of a value that are shown. */
const SHOWN = 80;

/** A value for a message, cut if it is long. */
function valueText(value: unknown): string {
  const text = plainText(JSON.stringify(value));
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** The error for a record that cannot be read. */
function unreadable(where: string, why: string): PipelineError {
  return new PipelineError('corrupt', `cannot read the rings in ${where}: ${why}`, {
    hint: 'restore an earlier version of the record (docs/rings.md#when-the-record-cannot-be-read); no ring opens until then',
  });
}

/**
 * The time on the clock of this machine, for a record.
 *
 * @throws PipelineError `usage` where the clock is not set: it would say that every image has soaked, or that none has
 */
export function timeOf(now: Date): string {
  if (now.getTime() >= EARLIEST && now.getTime() < LATEST) return now.toISOString();
  throw new PipelineError('usage', `the clock of this machine is wrong: ${now.toUTCString()}`, {
    hint: 'set the clock; no ring opens until then',
  });
}
