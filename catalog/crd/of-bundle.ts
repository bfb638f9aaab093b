/** The CRDs that a bundle in a catalog carries. */

import { manifestOfKind } from '../fbc/bundle-object.ts';
import { ownText } from '../fbc/document.ts';
import type { Bundle } from '../fbc/model.ts';
import { isObject } from '../go/shape.ts';
import { type Crd, readCrd } from './crd.ts';

const known = new WeakMap<Bundle, readonly Crd[] | undefined>();

/** CRDs among a bundle's manifests; undefined when the catalog does not hold its manifests. */
export function crdsOfBundle(bundle: Bundle): readonly Crd[] | undefined {
  if (!known.has(bundle)) known.set(bundle, readCrds(bundle));
  return known.get(bundle);
}

function readCrds({ properties }: Bundle): readonly Crd[] | undefined {
  const objects = properties.filter(({ type }) => type === 'olm.bundle.object');
  if (objects.length === 0) return undefined;
  return objects.flatMap(({ value }) => {
    const data = isObject(value) ? value['data'] : undefined;
    return typeof data === 'string' ? (crdIn(data) ?? []) : [];
  });
}

/** Most characters of manifests that are remembered. */
const MOST_KEPT = 16 * 1024 * 1024;

const kept = new Map<string, Crd | undefined>();
let keptSize = 0;

/**
 * The CRD in a manifest. Most releases, and most catalogs, repeat the manifest of
 * the one before: equal manifests are one CRD.
 */
function crdIn(data: string): Crd | undefined {
  if (kept.has(data)) return kept.get(data);
  const crd = readCrd(manifestOfKind('CustomResourceDefinition', data));
  keptSize += data.length;
  if (keptSize > MOST_KEPT) {
    kept.clear();
    keptSize = data.length;
  }
  kept.set(ownText(data), crd);
  return crd;
}
