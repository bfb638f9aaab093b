/**
 * Names that Kubernetes accepts, names in messages, and what names say of versions.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */

import { fnvHex } from './go/fnv.ts';

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

/** Longest value of a label, which names of catalogs become. */
const MAX_LABEL = 63;

/**
 * A name that Kubernetes accepts for an object and as the value of a label: the text
 * itself where it is one, else as much of it as may stay, and a hash of all of it, so
 * that different texts keep different names.
 */
export function objectName(text: string): string {
  if (isDnsSubdomain(text) && text.length <= MAX_LABEL) return text;
  return hashedName(text, text);
}

/**
 * A name for a Kubernetes object whose name becomes a host name as well: the text if it is a DNS label that begins with a
 * letter, or one made with a hash.
 */
export function labelName(text: string): string {
  return isDnsLabel(text) && /^[a-z]/.test(text) ? text : hashedName(text, text);
}

/** What may stay of `text` in a name, and a hash of `identity`. */
export function hashedName(text: string, identity: string): string {
  const prefix = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    // Names of Services, which OLM makes of it, begin with a letter.
    .replaceAll(/^[-0-9]+|-$/g, '')
    // Nine for the hyphen and the eight digits of the hash.
    .slice(0, MAX_LABEL - 9)
    .replace(/-$/, '');
  return prefix === '' ? `catalog-${fnvHex(identity)}` : `${prefix}-${fnvHex(identity)}`;
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

/** Words in the names of channels, and in pre-releases, that mark them as unstable. */
const UNSTABLE =
  /(?:^|[^a-z])(?:alpha|beta|candidate|nightly|preview|dev|edge|experimental|next|rc|unstable|test)(?:[^a-z]|$)/i;

/** Whether the name of a channel, or a pre-release, says that it is not for production. */
export function isUnstable(name: string): boolean {
  return UNSTABLE.test(name);
}
