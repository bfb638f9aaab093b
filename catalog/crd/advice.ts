/** What to do about an unsafe change of a CRD. */
import type { UnsafeChange } from './safety.ts';

const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'existingFieldRemoval',
    'keep the field and deprecate it; a new API version may leave it out once nothing stores the old one',
  ],
  [
    'storedVersionRemoval',
    'keep the version, served: false, until objects are migrated and status.storedVersions no longer names it',
  ],
  ['scope', 'the scope cannot change: define a new kind'],
  ['required', 'make the new field optional, or require it in a new API version'],
  ['type', 'keep the type and add a field of another name'],
  ['default', 'set the default in the controller instead of the schema'],
  ['enum', 'keep the old values, and let the controller refuse them'],
  ['pattern', 'keep the pattern, and let the controller refuse what it no longer takes'],
  ['nullable', 'keep nullable as it was'],
]);

/** The change that would have been safe. */
export function safeChange({ check }: UnsafeChange): string {
  return (
    ADVICE.get(check) ??
    (/^(?:max|min)/.test(check)
      ? 'only loosen the bound; let the controller check the tighter one'
      : 'make the change in a new API version, with conversion by a webhook')
  );
}
