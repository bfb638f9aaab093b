/**
 * Names that Kubernetes accepts, and names in messages.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Whether a name is a label of RFC 1123: at most 63 characters. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && LABEL.test(name);
}

/** Whether a name is a subdomain of RFC 1123: labels joined by dots, at most 253 characters. */
export function isDnsSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** A name as messages show it: quoted, control characters escaped. */
export function quoted(name: string): string {
  return JSON.stringify(name);
}

/** A word for a command that people copy into a shell: whatever it holds, it stays one word and is not executed. */
export function shellWord(text: string): string {
  return /^[\w.,/:@=+%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The end of a name, in which a version is looked for: no sound name is longer, and a hostile one must not cost more. */
export function nameEnd(name: string): string {
  return name.slice(-300);
}
