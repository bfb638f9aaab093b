/** The custom resource definitions that a bundle in a catalog carries. */

import type { Bundle } from '../fbc/model.ts';
import { decodeBase64 } from '../go/base64.ts';
import { isObject } from '../go/shape.ts';
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
    return typeof data === 'string' ? (definitionIn(data) ?? []) : [];
  });
}

/** Most characters of manifests that are remembered. */
const MOST_KEPT = 32 * 1024 * 1024;

const kept = new Map<string, CrdDefinition | undefined>();
let keptSize = 0;

/**
 * The definition in a manifest. Most releases, and most catalogs, repeat the manifest of
 * the one before: equal manifests are one definition.
 */
function definitionIn(data: string): CrdDefinition | undefined {
  if (kept.has(data)) return kept.get(data);
  const definition = crdDefinition(jsonIn(data));
  keptSize += data.length;
  if (keptSize > MOST_KEPT) {
    kept.clear();
    keptSize = data.length;
  }
  kept.set(data, definition);
  return definition;
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
