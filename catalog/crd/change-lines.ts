/** Unsafe changes of a CRD in words, for people who look at objects: without what follows from another change. */
import { groupedBy } from '../go/grouped.ts';
import type { UnsafeChange } from './safety.ts';

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
