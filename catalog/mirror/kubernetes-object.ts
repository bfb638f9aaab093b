/**
 * Objects for a cluster: plain data, valid names, text that is the same on every run.
 */
import { isDnsLabel, isDnsSubdomain } from '../names.ts';
import { emitPortableYaml } from '../yaml/emit.ts';
import type { Json } from '../yaml/scalar.ts';
import { fnvHex } from './fnv.ts';

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: Json | Metadata;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
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

/** The objects as one stream of YAML, keys sorted, each behind its own separator. */
export function objectsText(objects: readonly KubernetesObject[]): string {
  return objects.map((object) => `---\n${objectText(object)}`).join('');
}

/** One object as YAML, byte for byte as Go's tools write it: keys sorted, lists at the column of their key. */
export function objectText(object: object): string {
  return emitPortableYaml(object as Json);
}
