/** The custom resource definitions that a bundle in a catalog carries. */
import { decodeBase64 } from '../base64.ts';
import type { Bundle } from '../model.ts';
import { isObject } from '../shape.ts';
import { type CrdDefinition, crdDefinition } from './definition.ts';

const known = new WeakMap<Bundle, readonly CrdDefinition[] | undefined>();

/** Definitions among a bundle's manifests; undefined when the catalog does not hold its manifests. */
export function definitionsOfBundle(bundle: Bundle): readonly CrdDefinition[] | undefined {
  if (!known.has(bundle)) known.set(bundle, readDefinitions(bundle));
  return known.get(bundle);
}

function readDefinitions({ properties }: Bundle): readonly CrdDefinition[] | undefined {
  const objects = properties.filter(({ type }) => type === 'olm.bundle.object');
  if (objects.length === 0) return undefined;
  return objects.flatMap(({ value }) => {
    const data = isObject(value) ? value['data'] : undefined;
    return typeof data === 'string' ? (crdDefinition(jsonIn(data)) ?? []) : [];
  });
}

/** The JSON in a property; what is no JSON is reported where catalogs are read. */
function jsonIn(data: string): unknown {
  const text = new TextDecoder().decode(decodeBase64(data));
  if (!text.includes('CustomResourceDefinition')) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
