/**
 * Whether objects survive the upgrade of their CRD, as OLM v1
 * checks it before it upgrades.
 *
 * @see https://github.com/operator-framework/operator-controller/tree/main/internal/operator-controller/rukpak/preflights/crdupgradesafety
 * @see https://github.com/kubernetes-sigs/crdify/blob/main/pkg/runner/runner.go
 */

import { groupedBy } from '../go/grouped.ts';
import { onceFor } from '../go/once.ts';
import { compareText } from '../go/text.ts';
import { Undecided } from '../undecided.ts';
import { type CompareOptions, compareNodes, type Meanings, meaningsForComparison } from './compare.ts';
import { type Crd, servedPairs } from './crd.ts';
import { changedNodes, type NodePair, ownKeywords, type Schema } from './schema.ts';

/** One reason why an upgrade is refused. */
export interface UnsafeChange {
  /** Name of the check, such as `existingFieldRemoval` or `required`. */
  readonly check: string;
  /** A version, or a pair such as `v1alpha1 -> v1`; empty for what concerns all of the CRD. */
  readonly version: string;
  /** Place in the schema, such as `^.spec.size`; empty for what concerns all of the CRD. */
  readonly field: string;
  readonly message: string;
  /** The line that the cluster prints. */
  readonly text: string;
  /** Differs for changes that differ in what the line leaves out. */
  readonly detail?: string;
  /** Set for a change of or below a field that is removed, which goes with it. */
  readonly isBelowRemoval?: true;
}

export interface SafetyOptions extends CompareOptions {
  /** Whether served versions may differ when a webhook converts between them. */
  readonly webhookMayConvert: boolean;
}

/** What OLM v1 asks for since 1.4 (OpenShift 4.20). */
export const OLM_OPTIONS: SafetyOptions = {
  enumMayGrow: true,
  descriptionMayChange: true,
  webhookMayConvert: true,
};

/** Most characters of unsafe changes, for which a CRD of the largest size must change nearly all of its fields. */
const MOST_TEXT = 4 * 1024 * 1024;

/** Most pairs of schemas that are compared in two CRDs. */
const MOST_PAIRS = 1_000_000;

/**
 * Every reason to refuse the upgrade, sorted by text; none when it is safe.
 *
 * @throws Undecided for more than can be compared
 */
export function unsafeChanges(before: Crd, after: Crd, options: SafetyOptions = OLM_OPTIONS): UnsafeChange[] {
  const changes: UnsafeChange[] = [];
  let textLeft = MOST_TEXT;
  for (const change of new Comparison(before.name, options).changes(before, after)) {
    changes.push(change);
    textLeft -= change.text.length + (change.detail ?? '').length;
    if (textLeft < 0)
      throw tooLarge(before.name, `its unsafe changes have more than ${MOST_TEXT} characters`);
  }
  return changes.sort((a, b) => compareText(a.text, b.text));
}

const changesFrom = onceFor((before: Crd) =>
  onceFor((after: Crd): readonly UnsafeChange[] => unsafeChanges(before, after)),
);

/** The unsafe changes from one CRD to another, kept because several catalogs contain the same pairs. */
export function changesBetween(before: Crd, after: Crd): readonly UnsafeChange[] {
  return before === after ? [] : changesFrom(before)(after);
}

function tooLarge(crd: string, why: string): Undecided {
  return new Undecided(`the change of the CRD ${crd}`, why);
}

/** A change of the definition, or of one field in it. */
function definitionChange(check: string, message: string, field = '', version = ''): UnsafeChange {
  return { check, version, field, message, text: `${check}: ${message}` };
}

/** Yields one change after the other: hostile CRDs have more than fits into memory. */
class Comparison {
  readonly #name: string;
  readonly #options: SafetyOptions & { readonly meanings: Meanings };
  #pairsLeft = MOST_PAIRS;

  constructor(name: string, options: SafetyOptions) {
    this.#name = name;
    this.#options = { ...options, meanings: meaningsForComparison() };
  }

  /**
   * Every unsafe change, in no order. A removed field is one removal, and so is each field below it. Their keywords count as
   * changed, too, as in crdify.
   */
  *changes(before: Crd, after: Crd): Iterable<UnsafeChange> {
    const newer = new Map(after.versions.map((version) => [version.name, version]));
    yield* scopeAndVersionChanges(before, after);
    for (const { name, schema } of before.versions) {
      // A version that is gone has nothing to be compared with; `scopeAndVersionChanges` looks at it.
      const nodes = newer.has(name) ? this.#nodes(schema, newer.get(name)?.schema) : [];
      for (const { text, newer: newerNode, isBelowGone } of nodes) {
        if (newerNode) continue;
        const removed = definitionChange(
          'existingFieldRemoval',
          `removed field : ${name}.${text}`,
          text,
          name,
        );
        yield isBelowGone ? { ...removed, isBelowRemoval: true } : removed;
      }
      yield* this.#nodeChanges(name, nodes, { isOneVersion: true });
    }
    const mayConvert = this.#options.webhookMayConvert && after.convertsByWebhook;
    if (!mayConvert) yield* this.#servedChanges(before, after);
  }

  /**
   * The pairs of nodes to compare.
   *
   * @throws Undecided when they are too many
   */
  #nodes(older: unknown, newer: unknown): NodePair[] {
    const nodes = changedNodes(older, newer);
    this.#pairsLeft -= nodes.length;
    if (this.#pairsLeft < 0)
      throw tooLarge(this.#name, `more than ${MOST_PAIRS} parts of schemas are to compare`);
    return nodes;
  }

  /** Differences between served versions, less those that the old CRD had already. */
  *#servedChanges(before: Crd, after: Crd): Iterable<UnsafeChange> {
    let contentsBefore: Set<string> | undefined;
    for (const change of this.#pairChanges(after)) {
      contentsBefore ??= new Set([...this.#pairChanges(before)].map(contentOf));
      if (!contentsBefore.has(contentOf(change))) yield change;
    }
  }

  /** The unsafe differences between the served versions of one CRD. */
  *#pairChanges(crd: Crd): Iterable<UnsafeChange> {
    for (const [older, newer] of servedPairs(crd))
      yield* this.#nodeChanges(`${older.name} -> ${newer.name}`, this.#nodes(older.schema, newer.schema));
  }

  /**
   * The unsafe changes of nodes.
   *
   * @param version what the changes are said of: a version, or a pair of them
   * @param options `isOneVersion` says that the nodes are of one version: what has no counterpart is removed then
   */
  *#nodeChanges(
    version: string,
    nodes: readonly NodePair[],
    { isOneVersion = false } = {},
  ): Iterable<UnsafeChange> {
    for (const { text: field, older: was, newer } of nodes) {
      const is = newer ?? {};
      // Most nodes only have something below them that differs.
      if (isSameItself(was, is)) continue;
      for (const change of compareNodes(
        ownKeywords(was, CHILDREN),
        ownKeywords(is, CHILDREN),
        this.#options,
      )) {
        const text = `${version}: ${field}: ${change.check}: ${change.message}`;
        yield { ...change, version, field, text, ...(isOneVersion && !newer && { isBelowRemoval: true }) };
      }
    }
  }
}

/** Changes of the scope, and stored versions that are removed. */
function* scopeAndVersionChanges(before: Crd, after: Crd): Iterable<UnsafeChange> {
  if (before.scope !== after.scope) {
    const scopes = `${JSON.stringify(before.scope)} -> ${JSON.stringify(after.scope)}`;
    yield definitionChange('scope', `scope changed : ${scopes}`);
  }
  const versions = new Set(after.versions.map(({ name }) => name));
  const removed = before.storedVersions.filter((name) => !versions.has(name));
  if (removed.length > 0)
    yield definitionChange('storedVersionRemoval', `stored versions removed : [${removed.join(' ')}]`);
}

/** A text that differs for changes that differ. */
function contentOf({ text, detail = '' }: UnsafeChange): string {
  return `${text}\n${detail}`;
}

/** Of a node, what lies below it is compared where it lies. */
const CHILDREN = ['properties', 'items'];

/** Whether all that two nodes say by themselves are the same values. */
function isSameItself(a: Schema, b: Schema): boolean {
  const same = (key: string): boolean => a[key] === b[key] || CHILDREN.includes(key);
  return Object.keys(a).every(same) && Object.keys(b).every(same);
}

/**
 * Whether OLM v0 refuses a change as well. It refuses that a stored version goes; another scope is refused by the API
 * server, whoever asks for it.
 */
export function isRefusedByV0({ check }: Pick<UnsafeChange, 'check'>): boolean {
  return check === 'storedVersionRemoval' || check === 'scope';
}

// What to do about an unsafe change of a CRD.

const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'existingFieldRemoval',
    'keep the field and deprecate it; remove it in a new API version once no objects are stored in the old one',
  ],
  [
    'storedVersionRemoval',
    'keep the version with served: false until all objects are migrated and status.storedVersions no longer lists it',
  ],
  ['scope', 'the scope cannot change: define a new kind'],
  ['required', 'make the new field optional, or require it in a new API version'],
  ['type', 'keep the type, and add a field with another name'],
  ['default', 'set the default in the controller instead of the schema'],
  ['enum', 'keep the old values, and reject them in the controller'],
  ['pattern', 'keep the pattern, and reject other values in the controller'],
  ['nullable', 'do not change nullable'],
]);

/** The change that would have been safe. */
export function safeChange({ check }: UnsafeChange): string {
  return (
    ADVICE.get(check) ??
    (/^(?:max|min)/.test(check)
      ? 'only loosen the bound; check the tighter one in the controller'
      : 'make the change in a new API version, with conversion by a webhook')
  );
}

// Unsafe changes of a CRD in words, for people who look at objects: without what follows from another change.

/** The changes but for those of and below fields that are removed, which go with them. */
export function ownChanges(changes: readonly UnsafeChange[]): UnsafeChange[] {
  return changes.filter(({ isBelowRemoval }) => !isBelowRemoval);
}

function isRemoval({ check }: UnsafeChange): boolean {
  return check === 'existingFieldRemoval';
}

/** A line for each change; what changes alike in several fields of one name is one line. */
export function changeLines(changes: readonly UnsafeChange[]): string[] {
  const alike = groupedBy(changes, (change) => {
    const { check, version, field, message } = change;
    return JSON.stringify([check, version, field.split('.').at(-1), isRemoval(change) || message]);
  });
  return [...alike.values()].flatMap(([first, ...others]) => (first ? [lineOf(first, others.length)] : []));
}

/** A change in a line, with the number of other fields that change alike. */
function lineOf(change: UnsafeChange, others: number): string {
  const { version, field, message, text } = change;
  if (field === '') return withoutQuirks(text);
  const where = field === '^' ? 'the schema' : field.replace(/^\^\./, '');
  const more = others === 0 ? '' : ` and ${others} more ${others === 1 ? 'field' : 'fields'} of this name`;
  return `${version}: ${where}${more}: ${isRemoval(change) ? 'removed' : withoutQuirks(message)}`;
}

/** OLM's words in plain English, without its spaces before colons. */
function withoutQuirks(text: string): string {
  return text
    .replaceAll(' : ', ': ')
    .replace(/^unhandled changes found \((.*)\)$/s, 'changed in a way that OLM v1 does not compare: $1');
}
