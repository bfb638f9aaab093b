/** What to do about an unsafe change of a CRD. */
import type { UnsafeChange } from './safety.ts';

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
