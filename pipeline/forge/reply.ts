/**
 * Replies of a forge: each field is read by what is expected of it, so that a reply that a proxy or another version wrote
 * is an error and never a wrong answer.
 */
import { isObject } from '../../catalog/go/shape.ts';
import { PipelineError } from '../error.ts';

/** The place of a value in a reply. */
interface Place {
  /** The forge's name in messages. */
  readonly forge: string;
  /** `GET /path`. */
  readonly request: string;
  /** `approved_by[0].user.id`; empty for the whole reply. */
  readonly field: string;
}

/** Reads a value. @throws PipelineError `bad-answer` that names the place, what was found and what was expected */
export type Reader<T> = (value: unknown, place: Place) => T;

/** Makes a reader that takes one kind of value, and refuses all others. */
function reader<T>(expected: string, isExpected: (value: unknown) => value is T): Reader<T> {
  return (value, place) => {
    if (isExpected(value)) return value;
    const { forge, request, field } = place;
    const where = field === '' ? '' : `${field}: `;
    const message = `${forge} returned an unexpected reply for ${request}: ${where}found ${shown(value)}, expected ${expected}`;
    throw new PipelineError('bad-answer', message, { retryable: true });
  };
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? 'an object' : JSON.stringify(value).slice(0, 60);
}

const isText = (value: unknown): value is string => typeof value === 'string';

export const text: Reader<string> = reader('text', isText);
export const flag: Reader<boolean> = reader('true or false', (value) => typeof value === 'boolean');
export const whole: Reader<number> = reader('a whole number', (value): value is number =>
  Number.isSafeInteger(value),
);
export const commitId: Reader<string> = reader(
  'the id of a commit',
  (value): value is string => isText(value) && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value),
);
/** A time with its time zone. */
export const time: Reader<string> = reader(
  'a time',
  (value): value is string =>
    isText(value) &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:?\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
);

/** The day of a time, `YYYY-MM-DD` in UTC, whatever its time zone. */
export const day: Reader<string> = (value, place) => new Date(time(value, place)).toISOString().slice(0, 10);

/** Reads a value that may be null, but not left out. */
export function nullable<T>(read: Reader<T>): Reader<T | null> {
  return (value, place) => (value === null ? null : read(value, place));
}

/** Reads a value that may be null or left out. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, place) => (value === undefined || value === null ? undefined : read(value, place));
}

const array = reader('a list', (value): value is readonly unknown[] => Array.isArray(value));

export function list<T>(read: Reader<T>): Reader<T[]> {
  return (value, place) =>
    array(value, place).map((one, i) => read(one, { ...place, field: `${place.field}[${i}]` }));
}

const struct = reader('an object', isObject);

/** The named fields of an object, and no others. */
export function object<T extends object>(fields: { readonly [K in keyof T]: Reader<T[K]> }): Reader<T> {
  const entries = Object.entries<Reader<unknown>>(fields);
  return (value, place) => {
    const members = struct(value, place);
    const { field } = place;
    const read = entries.map(([name, readField]) => [
      name,
      readField(members[name], { ...place, field: field === '' ? name : `${field}.${name}` }),
    ]);
    return Object.fromEntries(read) as T;
  };
}

/** The type that a reader returns. */
export type Read<R> = R extends Reader<infer T> ? T : never;
