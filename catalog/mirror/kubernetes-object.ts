/**
 * Objects for a cluster: plain data, and text that is the same on every run.
 */
import { emitPortableYaml } from '../yaml/emit.ts';
import type { Json } from '../yaml/scalar.ts';

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

/** The objects as one stream of YAML, keys sorted, each behind its own separator. */
export function objectsText(objects: readonly KubernetesObject[]): string {
  return objects.map((object) => `---\n${objectText(object)}`).join('');
}

/** One object as YAML, byte for byte as Go's tools write it: keys sorted, lists at the column of their key. */
export function objectText(object: object): string {
  return emitPortableYaml(object as Json);
}
