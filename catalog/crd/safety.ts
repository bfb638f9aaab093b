/**
 * Whether objects survive the upgrade of their CRD, as OLM v1
 * checks it before it upgrades.
 *
 * @see https://github.com/operator-framework/operator-controller/tree/main/internal/operator-controller/rukpak/preflights/crdupgradesafety
 * @see https://github.com/kubernetes-sigs/crdify/blob/main/pkg/runner/runner.go
 */

import { groupedBy } from '../go/grouped.ts';
import { compareText } from '../go/text.ts';
import { type CompareOptions, compareNodes, type NodeChange } from './compare.ts';
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
  /** All that has changed, where the line leaves out a part. */
  readonly detail?: string;
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

/** Every reason to refuse the upgrade, sorted by text; none when it is safe. */
export function unsafeChanges(before: Crd, after: Crd, options: SafetyOptions = OLM_OPTIONS): UnsafeChange[] {
  const versions = comparedVersions(before, after);
  return [
    ...wholeChanges(before, after, versions),
    ...versions.flatMap(({ name, nodes }) =>
      schemaChanges(nodes, options).map(([text, change]) => changeInVersion(name, text, change)),
    ),
    ...(options.webhookMayConvert && after.convertsByWebhook ? [] : servedChanges(before, after, options)),
  ].sort((a, b) => compareText(a.text, b.text));
}

/** A change of the definition, or of one field in it. */
function definitionChange(check: string, message: string, field = '', version = ''): UnsafeChange {
  return { check, version, field, message, text: `${check}: ${message}` };
}

/** Unsafe changes of a definition as a whole: its scope, removed stored versions, removed fields. */
function wholeChanges(before: Crd, after: Crd, compared: readonly ComparedVersion[]): UnsafeChange[] {
  const changes: UnsafeChange[] = [];
  if (before.scope !== after.scope) {
    const scopes = `${JSON.stringify(before.scope)} -> ${JSON.stringify(after.scope)}`;
    changes.push(definitionChange('scope', `scope changed : ${scopes}`));
  }
  const versions = new Set(after.versions.map(({ name }) => name));
  const removed = before.storedVersions.filter((name) => !versions.has(name));
  if (removed.length > 0) {
    changes.push(
      definitionChange('storedVersionRemoval', `stored versions removed : [${removed.join(' ')}]`),
    );
  }
  for (const { name, nodes } of compared) {
    for (const { text, newer: left } of nodes) {
      if (left) continue;
      changes.push(definitionChange('existingFieldRemoval', `removed field : ${name}.${text}`, text, name));
    }
  }
  return changes;
}

/** A version that both CRDs have, with what differs in its schema. */
interface ComparedVersion {
  readonly name: string;
  readonly nodes: readonly NodePair[];
}

function comparedVersions(before: Crd, after: Crd): ComparedVersion[] {
  return before.versions.flatMap((older): ComparedVersion[] => {
    const newer = after.versions.find(({ name }) => name === older.name);
    return newer ? [{ name: older.name, nodes: changedNodes(older.schema, newer.schema) }] : [];
  });
}

function changeInVersion(version: string, field: string, change: NodeChange): UnsafeChange {
  return { ...change, version, field, text: `${version}: ${field}: ${change.check}: ${change.message}` };
}

/** Differences between served versions, less those that the old CRD had already. */
function servedChanges(before: Crd, after: Crd, options: CompareOptions): UnsafeChange[] {
  const known = new Set(pairChanges(before, options).map(contentOf));
  return pairChanges(after, options).filter((change) => !known.has(contentOf(change)));
}

function contentOf({ text, detail = '' }: UnsafeChange): string {
  return `${text}\n${detail}`;
}

function pairChanges(crd: Crd, options: CompareOptions): UnsafeChange[] {
  return servedPairs(crd).flatMap(([older, newer]) =>
    schemaChanges(changedNodes(older.schema, newer.schema), options).map(([text, change]) =>
      changeInVersion(`${older.name} -> ${newer.name}`, text, change),
    ),
  );
}

/** Of a node, what lies below it is compared where it lies. */
const CHILDREN = ['properties', 'items'];

/** Whether all that two nodes say by themselves are the same values. */
function isSameItself(a: Schema, b: Schema): boolean {
  const same = (key: string): boolean => a[key] === b[key] || CHILDREN.includes(key);
  return Object.keys(a).every(same) && Object.keys(b).every(same);
}

function schemaChanges(nodes: readonly NodePair[], options: CompareOptions): [string, NodeChange][] {
  return nodes.flatMap(({ text, older: was, newer: is = {} }) => {
    // Most nodes only have something below them that differs.
    if (isSameItself(was, is)) return [];
    const changes = compareNodes(ownKeywords(was, CHILDREN), ownKeywords(is, CHILDREN), options);
    return changes.map((change): [string, NodeChange] => [text, change]);
  });
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
  const keyOf = (version: string, field: string): string => `${version}\n${field}`;
  const removed = new Set(changes.filter(isRemoval).map(({ version, field }) => keyOf(version, field)));
  return changes.filter((change) => {
    const { version, field } = change;
    const names = field.split('.');
    const isBelow = names.some((_, i) => i > 0 && removed.has(keyOf(version, names.slice(0, i).join('.'))));
    return !isBelow && (isRemoval(change) || !removed.has(keyOf(version, field)));
  });
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

function lineOf(change: UnsafeChange, others: number): string {
  const { version, field, message, text } = change;
  if (field === '') return plainly(text);
  const where = field === '^' ? 'the schema' : field.replace(/^\^\./, '');
  const more = others === 0 ? '' : ` and ${others} more ${others === 1 ? 'field' : 'fields'} of this name`;
  return `${version}: ${where}${more}: ${isRemoval(change) ? 'removed' : plainly(message)}`;
}

/** OLM's words, without its spaces before colons. */
function plainly(text: string): string {
  return text
    .replaceAll(' : ', ': ')
    .replace(/^unhandled changes found \((.*)\)$/s, 'changed in a way that OLM v1 does not compare: $1');
}
