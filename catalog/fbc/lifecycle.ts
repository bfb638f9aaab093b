/**
 * Lifecycle metadata: how long each minor version of an operator is supported, and on which platforms it works.
 * OpenShift's console shows it, from the one blob that a package has.
 *
 * @see https://github.com/openshift/enhancements/blob/master/enhancements/olm/lifecycle-and-compatibility.md
 */
import { isObject } from '../go/shape.ts';
import { isDay } from '../go/time.ts';
import type { Version } from '../version/version.ts';
import type { Blob, Catalog } from './model.ts';
import { compareMinors, formatMinor, type Minor, tryParseMinor } from './openshift.ts';

export const LIFECYCLE = 'io.openshift.operators.lifecycles.v1alpha1';

export interface LifecycleVersion {
  /** Such as `4.12`. */
  readonly name: string;
  readonly minor: Minor;
  /** Position in the blob's list. */
  readonly index: number;
  readonly phases: readonly LifecyclePhase[];
  /** Versions of OpenShift with which it works, the oldest first; undefined where the blob does not say. */
  readonly openshift: readonly Minor[] | undefined;
}

interface LifecyclePhase {
  readonly name: string;
  /** Days, both in the phase, as `2026-01-31`. */
  readonly start: string;
  readonly end: string;
}

/** A part of a blob that is not as the schema wants it. */
interface SchemaDefect {
  readonly path: readonly (string | number)[];
  /** Found, and expected: `has no phases`. */
  readonly what: string;
  /** The line to write. */
  readonly hint: string;
}

type Field =
  | { readonly kind: 'text'; readonly form?: TextForm }
  | { readonly kind: 'list'; readonly items: Field; readonly mayBeEmpty?: true }
  | {
      readonly kind: 'object';
      readonly fields: Readonly<Record<string, Field>>;
      readonly optional: readonly string[];
    };

interface TextForm {
  readonly accepts: (text: string) => boolean;
  readonly expected: string;
  readonly example: string;
}

const TEXT: Field = { kind: 'text' };
const MINOR: Field = {
  kind: 'text',
  form: {
    accepts: (text) => /^\d+\.\d+$/.test(text),
    expected: 'MAJOR.MINOR in quotes',
    example: '"4.20"',
  },
};
const DAY: Field = {
  kind: 'text',
  form: { accepts: isDay, expected: 'a date, YYYY-MM-DD', example: '"2026-01-31"' },
};

/** The published schema, with the forms that its description adds. */
const SCHEMA: Field = {
  kind: 'object',
  optional: [],
  fields: {
    schema: TEXT,
    package: TEXT,
    versions: {
      kind: 'list',
      items: {
        kind: 'object',
        optional: ['platformCompatibility'],
        fields: {
          name: MINOR,
          phases: {
            kind: 'list',
            items: { kind: 'object', optional: [], fields: { name: TEXT, startDate: DAY, endDate: DAY } },
          },
          platformCompatibility: {
            kind: 'list',
            mayBeEmpty: true,
            items: {
              kind: 'object',
              optional: [],
              fields: { name: TEXT, versions: { kind: 'list', items: MINOR } },
            },
          },
        },
      },
    },
  },
};

/** The blobs of a catalog with lifecycle metadata that was read. */
export function lifecycleBlobs({ blobs }: Catalog): Blob[] {
  return blobs.others.filter(({ schema, value }) => schema === LIFECYCLE && 'schema' in value);
}

/** What of a blob is not as the schema wants it, in the order of the file. */
export function schemaDefects({ value }: Blob): SchemaDefect[] {
  return [...defectsIn(value, SCHEMA, [])];
}

/** Where a value does not fit the schema of lifecycle metadata. */
function* defectsIn(value: unknown, field: Field, path: SchemaDefect['path']): Generator<SchemaDefect> {
  const at = pathText(path);
  if (field.kind === 'text') {
    const { form } = field;
    if (typeof value !== 'string')
      yield { path, what: `${at} is not text`, hint: `${at}: ${form?.example ?? '"…"'}` };
    else if (form && !form.accepts(value))
      yield {
        path,
        what: `${at} is ${JSON.stringify(value)}, not ${form.expected}`,
        hint: `${at}: ${form.example}`,
      };
  } else if (field.kind === 'list') {
    if (!Array.isArray(value)) yield { path, what: `${at} is not a list`, hint: `write ${at} as a list` };
    else if (value.length === 0 && !field.mayBeEmpty)
      yield { path, what: `${at} is empty`, hint: `add an entry to ${at}` };
    else for (const [i, item] of value.entries()) yield* defectsIn(item, field.items, [...path, i]);
  } else if (!isObject(value)) {
    yield { path, what: `${at} is not a mapping`, hint: `write ${at} as a mapping` };
  } else {
    yield* objectDefects(value, field, path);
  }
}

/** Fields of a mapping that the schema does not know, that are missing, or whose values do not fit. */
function* objectDefects(
  value: Readonly<Record<string, unknown>>,
  { fields, optional }: Extract<Field, { kind: 'object' }>,
  path: SchemaDefect['path'],
): Generator<SchemaDefect> {
  const known = Object.keys(fields).join(', ');
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(fields, key)) continue;
    const what = `${pathText([...path, key])} is not a field of the schema`;
    yield { path: [...path, key], what, hint: `remove it: the fields are ${known}` };
  }
  for (const [key, field] of Object.entries(fields)) {
    const here = [...path, key];
    if (Object.hasOwn(value, key)) yield* defectsIn(value[key], field, here);
    else if (!optional.includes(key))
      yield { path, what: `${pathText(here)} is missing`, hint: `add ${key} to ${pathText(path)}` };
  }
}

function pathText(path: SchemaDefect['path']): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text === '' ? 'the blob' : text.replace(/^\./, '');
}

const DAY_LENGTH = 86_400_000;

/** Another day, so many days later, or earlier. */
export function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_LENGTH).toISOString().slice(0, 10);
}

/** The versions of a blob; none of one that is not as the schema wants it. */
export function lifecycleVersions(blob: Blob): LifecycleVersion[] {
  if (schemaDefects(blob).length > 0) return [];
  const { versions } = blob.value as unknown as WrittenLifecycle;
  return versions.flatMap(({ name, phases, platformCompatibility }, index) => {
    const minor = tryParseMinor(name);
    if (!minor) return [];
    return [
      {
        name,
        minor,
        index,
        phases: phases.map(({ name: phase, startDate, endDate }) => ({
          name: phase,
          start: startDate,
          end: endDate,
        })),
        openshift: openshiftIn(platformCompatibility),
      },
    ];
  });
}

/** A blob as the schema wants it. */
interface WrittenLifecycle {
  readonly versions: readonly {
    readonly name: string;
    readonly phases: readonly {
      readonly name: string;
      readonly startDate: string;
      readonly endDate: string;
    }[];
    readonly platformCompatibility?: readonly WrittenPlatform[];
  }[];
}

interface WrittenPlatform {
  readonly name: string;
  readonly versions: readonly string[];
}

/** The only platform that lifecycle metadata is written for. */
export const OPENSHIFT = 'openshift';

/** The versions of OpenShift among platforms, the lowest first; undefined where OpenShift is not named. */
function openshiftIn(platforms: readonly WrittenPlatform[] = []): Minor[] | undefined {
  const own = platforms.filter(({ name }) => name === OPENSHIFT);
  if (own.length === 0) return undefined;
  return own
    .flatMap(({ versions }) => versions.flatMap((text) => tryParseMinor(text) ?? []))
    .sort(compareMinors);
}

/** What a catalog says of the lifecycles of its packages. */
export class Lifecycles {
  readonly #versions = new Map<string, { blob: Blob; versions: readonly LifecycleVersion[] }>();

  constructor(catalog: Catalog) {
    for (const blob of lifecycleBlobs(catalog)) {
      // Of a package with several blobs the console shows nothing: a rule reports them.
      const versions = this.#versions.has(blob.package) ? [] : lifecycleVersions(blob);
      this.#versions.set(blob.package, { blob, versions });
    }
  }

  /** What is said of a version of a package, by its minor version, as the console finds it. */
  of(name: string, version: Version | undefined): { blob: Blob; lifecycle: LifecycleVersion } | undefined {
    const known = this.#versions.get(name);
    const lifecycle =
      version &&
      known?.versions.find(({ minor }) => formatMinor(minor) === `${version.major}.${version.minor}`);
    return known && lifecycle && { blob: known.blob, lifecycle };
  }
}
