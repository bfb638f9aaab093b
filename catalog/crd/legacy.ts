/**
 * The checks of OLM v1 before 1.4: those of 1.3 (OpenShift 4.19), and of 0.17 with kapp
 * (OpenShift 4.17 and 4.18). Between served versions they report what the installed
 * definition had already, and any other wording of a description is refused.
 *
 * @see https://github.com/operator-framework/operator-controller/tree/v1.3.0/internal/operator-controller/rukpak/preflights/crdupgradesafety
 */
import { compareText } from '../go/text.ts';
import { parseJson } from '../json.ts';
import { meaningsForComparison, membersNotIn, numberText, quote, rawJson } from './compare.ts';
import { type Crd, type CrdVersion, servedPairs } from './crd.ts';
import { flattenSchema, ownKeywords, sameJson } from './schema.ts';

export type LegacyRelease = 'v1.3' | 'v0.17';

/** What one of the old validators says. */
interface LegacyFinding {
  readonly validator:
    | 'NoScopeChange'
    | 'NoStoredVersionRemoved'
    | 'NoExistingFieldRemoved'
    | 'ServedVersionValidator'
    | 'ChangeValidator';
  readonly message: string;
  /** What the message leaves out. */
  readonly hint?: string;
}

/** Every reason to refuse the upgrade; none when it is safe. */
export function legacyChanges(before: Crd, after: Crd, release: LegacyRelease): LegacyFinding[] {
  const common = before.versions.flatMap((older): [CrdVersion, CrdVersion][] => {
    const newer = after.versions.find(({ name }) => name === older.name);
    return newer ? [[older, newer]] : [];
  });
  const served = after.convertsByWebhook
    ? []
    : servedPairs(after).flatMap(([older, newer]) => servedMessages(older, newer, release));
  return [
    ...scopeMessages(before, after).map(findingBy('NoScopeChange')),
    ...storedMessages(before, after).map(findingBy('NoStoredVersionRemoved')),
    ...common
      .flatMap((pair) => removedMessages(before.name, ...pair))
      .map(findingBy('NoExistingFieldRemoved')),
    ...served.map(findingBy('ServedVersionValidator')),
    ...common.flatMap((pair) => changeMessages(...pair, release)).map(findingBy('ChangeValidator')),
  ];
}

/** What a validator says, and what it leaves out. */
type Saying = Pick<LegacyFinding, 'message' | 'hint'>;

/** Makes findings of what a validator says. */
function findingBy(validator: LegacyFinding['validator']): (saying: string | Saying) => LegacyFinding {
  return (saying) => ({ validator, ...(typeof saying === 'string' ? { message: saying } : saying) });
}

function scopeMessages(before: Crd, after: Crd): string[] {
  if (before.scope === after.scope) return [];
  return [`scope changed from ${JSON.stringify(before.scope)} to ${JSON.stringify(after.scope)}`];
}

/** What the old validator says about stored versions: it names only the first that is removed. */
function storedMessages(before: Crd, after: Crd): string[] {
  const removed = before.storedVersions.find(
    (name) => !after.versions.some((version) => version.name === name),
  );
  return removed === undefined ? [] : [`stored version ${JSON.stringify(removed)} removed`];
}

/** What the old validator says about fields that a version has lost. */
function removedMessages(name: string, older: CrdVersion, newer: CrdVersion): string[] {
  const remaining = flattenSchema(newer.schema);
  return [...flattenSchema(older.schema).keys()]
    .filter((field) => !remaining.has(field))
    .map((field) => `crd/${name} version/${newer.name} field/${field} may not be removed`)
    .sort(compareText);
}

/** What the old validator of served versions says about a change from one served version to the next. */
function servedMessages(older: CrdVersion, newer: CrdVersion, release: LegacyRelease): (string | Saying)[] {
  const [from, to] = [JSON.stringify(older.name), JSON.stringify(newer.name)];
  const changes = fieldChanges(older, newer, release);
  if (!changes) return [`calculating schema diff between CRD versions ${from} and ${to}`];
  return changes.map(({ field, message, hint }) =>
    message === undefined
      ? unknownText(from, field)
      : {
          message: `version upgrade ${from} to ${to}, field ${JSON.stringify(field)}: ${message}`,
          ...(hint !== undefined && { hint }),
        },
  );
}

/** What the old validator of changes says about one version in the installed and the new definition. */
function changeMessages(older: CrdVersion, newer: CrdVersion, release: LegacyRelease): (string | Saying)[] {
  const version = JSON.stringify(older.name);
  const changes = fieldChanges(older, newer, release);
  if (!changes) return [`calculating schema diff for CRD version ${version}`];
  return changes.map(({ field, message, hint }) =>
    message === undefined
      ? unknownText(version, field)
      : {
          message: `version ${version}, field ${JSON.stringify(field)}: ${message}`,
          ...(hint !== undefined && { hint }),
        },
  );
}

function unknownText(version: string, field: string): string {
  return `version ${version}, field ${JSON.stringify(field)} has unknown change, refusing to determine that change is safe`;
}

/** A change of a field; without a message, one that the checks do not know. */
interface FieldChange {
  readonly field: string;
  readonly message: string | undefined;
  readonly hint?: string;
}

/**
 * The messages about each field that both versions have.
 *
 * @returns undefined if the newer version has lost a field: the real check then compares nothing
 */
function fieldChanges(
  older: CrdVersion,
  newer: CrdVersion,
  release: LegacyRelease,
): FieldChange[] | undefined {
  const remaining = flattenSchema(newer.schema);
  // The checks with kapp leave the items where they are, so a change of them shows twice.
  const below = release === 'v1.3' ? ['properties', 'items'] : ['properties'];
  const changes: FieldChange[] = [];
  for (const [field, node] of [...flattenSchema(older.schema)].sort(([a], [b]) => compareText(a, b))) {
    const other = remaining.get(field);
    if (!other) return undefined;
    const a = ownKeywords(node, below);
    const b = ownKeywords(other, below);
    const hint = omittedFields(a.get('required'), b.get('required'), release);
    for (const message of nodeChanges(a, b, release)) {
      changes.push({ field, message, ...(hint !== undefined && message?.endsWith(OMITTED) && { hint }) });
    }
  }
  return changes;
}

type Keywords = ReadonlyMap<string, unknown>;
type Comparison = (a: unknown, b: unknown, release: LegacyRelease) => string | undefined;

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['enum', compareEnum],
  ['required', compareRequired],
  ['maximum', compareBound('maximum')],
  ['maxItems', compareBound('maxItems')],
  ['maxLength', compareBound('maxLength')],
  ['maxProperties', compareBound('maxProperties')],
  ['minimum', compareBound('minimum')],
  ['minItems', compareBound('minItems')],
  ['minLength', compareBound('minLength')],
  ['minProperties', compareBound('minProperties')],
  ['default', compareDefault],
]);

/**
 * The messages of the old validators about one node of a schema. Undefined stands for a change in none of the keywords
 * that they compare.
 */
function nodeChanges(a: Keywords, b: Keywords, release: LegacyRelease): (string | undefined)[] {
  const messages: (string | undefined)[] = [];
  for (const [keyword, compare] of COMPARISONS) {
    const message = compare(a.get(keyword), b.get(keyword), release);
    if (message !== undefined) messages.push(message);
  }
  // Of the two validators, only that of v1.3 compares types.
  const knows = (keyword: string): boolean =>
    COMPARISONS.has(keyword) || (release === 'v1.3' && keyword === 'type');
  if (release === 'v1.3' && a.get('type') !== b.get('type')) {
    messages.push(`type changed from ${quote(a.get('type'))} to ${quote(b.get('type'))}`);
  }
  const meanings = meaningsForComparison();
  const differs = (keyword: string): boolean =>
    meanings.textFor(keyword, a.get(keyword)) !== meanings.textFor(keyword, b.get(keyword));
  const hasUnknown = [...new Set([...a.keys(), ...b.keys()])].some(
    (keyword) => !knows(keyword) && differs(keyword),
  );
  return hasUnknown ? [...messages, undefined] : messages;
}

/** What the old validator says about `enum`: adding it, or removing values, is unsafe. */
function compareEnum(a: unknown, b: unknown, release: LegacyRelease): string | undefined {
  const added = membersNotIn(b, a);
  const removed = membersNotIn(a, b);
  if (a === undefined && added.length > 0) {
    return release === 'v1.3'
      ? `enum constraints [${added.join(' ')}] added when there were no restrictions previously`
      : 'enums added when there were no enum restrictions previously';
  }
  if (removed.length === 0) return undefined;
  return release === 'v1.3'
    ? `enums [${removed.join(' ')}] removed from the set of previously allowed values`
    : `enum values removed: [${removed.join(' ')}]`;
}

/** What the old validators say about `required`: to add a field is unsafe. */
function compareRequired(a: unknown, b: unknown, release: LegacyRelease): string | undefined {
  const added = membersNotIn(b, a).map((text) => String(parseJson(text)));
  if (added.length === 0) return undefined;
  if (release === 'v1.3') return `new required fields [${added.join(' ')}] added`;
  return a === undefined ? OMITTED : `new required fields added: [${added.join(' ')}]`;
}

/** A message of the check with kapp, which empties the list before it prints it. */
const OMITTED = 'new values added as required when previously no required fields existed: []';

/** The fields that belong into a message whose list the check with kapp has emptied; undefined for other messages. */
function omittedFields(a: unknown, b: unknown, release: LegacyRelease): string | undefined {
  if (release !== 'v0.17' || a !== undefined || !Array.isArray(b)) return undefined;
  return `new required fields: ${b.join(', ')}`;
}

const KAPP_BOUNDS: ReadonlyMap<string, string> = new Map([
  ['maxItems', 'maximum items'],
  ['maxLength', 'maximum length'],
  ['maxProperties', 'maximum properties'],
  ['minItems', 'minimum items'],
  ['minLength', 'minimum length'],
  ['minProperties', 'minimum properties'],
]);

/** The comparison of a limit such as `maximum` or `minLength`: adding it, or making it narrower, is unsafe. */
function compareBound(keyword: string): Comparison {
  const isMaximum = keyword.startsWith('max');
  const print = numberText(keyword);
  return (a, b, release) => {
    if (b === undefined) return undefined;
    const name = release === 'v1.3' ? `${keyword}:` : (KAPP_BOUNDS.get(keyword) ?? keyword);
    if (a === undefined) {
      return release === 'v1.3'
        ? `${name} constraint ${print(b)} added when there were no restrictions previously`
        : `${name} constraint added when one did not exist previously: ${print(b)}`;
    }
    const worse = isMaximum ? Number(b) < Number(a) : Number(b) > Number(a);
    return worse
      ? `${name} constraint ${isMaximum ? 'decreased' : 'increased'} from ${print(a)} to ${print(b)}`
      : undefined;
  };
}

/**
 * What the old validator says about a changed `default`. Release 1.3 prints values as JSON, 0.17 as the bytes of that.
 */
function compareDefault(a: unknown, b: unknown, release: LegacyRelease): string | undefined {
  if ((a === undefined && b === undefined) || sameJson(a, b)) return undefined;
  const [before, after] =
    release === 'v1.3' ? [quote(rawJson(a ?? '')), quote(rawJson(b ?? ''))] : [bytesText(a), bytesText(b)];
  if (release === 'v1.3') {
    if (a === undefined) return `default value ${after} added when there was no default previously`;
    return b === undefined
      ? `default value ${before} removed`
      : `default value changed from ${before} to ${after}`;
  }
  if (a === undefined) {
    return `new value added as default when previously no default value existed: &JSON{Raw:*${after},}`;
  }
  return b === undefined
    ? `default value has been removed when previously a default value existed: ${before}`
    : `default value has been changed from ${before} to ${after}`;
}

/** Bytes as Go prints them. */
function bytesText(value: unknown): string {
  return value === undefined ? '[]' : `[${[...new TextEncoder().encode(rawJson(value))].join(' ')}]`;
}
