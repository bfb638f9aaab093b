/**
 * What the checks of upgrades look at in a CRD.
 */

import { manifestOfKind, objectData } from '../fbc/bundle-object.ts';
import type { Bundle } from '../fbc/model.ts';
import { onceFor } from '../go/once.ts';
import { isObject, itemsOf, objectOf, textOf } from '../go/shape.ts';
import { compareText, ownText } from '../go/text.ts';
import { Undecided } from '../undecided.ts';

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  /** The OpenAPI schema; undefined when there is none. */
  readonly schema: unknown;
}

export interface Crd {
  readonly name: string;
  readonly scope: string;
  readonly versions: readonly CrdVersion[];
  /** Versions in which a cluster may hold objects. */
  readonly storedVersions: readonly string[];
  /** Whether the stored versions are from a status; false for those of a file. */
  readonly hasStatus: boolean;
  readonly convertsByWebhook: boolean;
}

/**
 * Reads a CRD of `apiextensions.k8s.io/v1`. What a cluster has stored is taken
 * from its status; a CRD from a file has none, and stores its storage version.
 *
 * @returns undefined for anything else
 */
export function readCrd(value: unknown): Crd | undefined {
  if (!isObject(value) || value['kind'] !== 'CustomResourceDefinition') return undefined;
  if (value['apiVersion'] !== 'apiextensions.k8s.io/v1') return undefined;
  const spec = objectOf(value['spec']);
  const versions = itemsOf(spec['versions'])
    .map(objectOf)
    .map((version) => ({
      name: textOf(version['name']),
      served: version['served'] === true,
      storage: version['storage'] === true,
      deprecated: version['deprecated'] === true,
      schema: objectOf(version['schema'])['openAPIV3Schema'],
    }));
  const stored = itemsOf(objectOf(value['status'])['storedVersions']).map(textOf);
  return {
    name: textOf(objectOf(value['metadata'])['name']),
    scope: textOf(spec['scope']),
    versions,
    storedVersions:
      stored.length > 0 ? stored : versions.filter(({ storage }) => storage).map(({ name }) => name),
    hasStatus: stored.length > 0,
    convertsByWebhook: objectOf(spec['conversion'])['strategy'] === 'Webhook',
  };
}

const KUBE_VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const STAGES = ['alpha', 'beta', undefined];

/** Order of versions as Kubernetes sees it: `v1alpha1`, `v1beta1`, `v1`, `v2`; other names before them, backwards. */
function compareKubeVersions(a: string, b: string): number {
  const x = KUBE_VERSION.exec(a);
  const y = KUBE_VERSION.exec(b);
  if (!x && !y) return compareText(b, a);
  if (!x || !y) return x ? 1 : -1;
  return (
    STAGES.indexOf(x[2]) - STAGES.indexOf(y[2]) ||
    Number(x[1]) - Number(y[1]) ||
    Number(x[3] ?? 0) - Number(y[3] ?? 0)
  );
}

/** Most served versions that are compared with each other. Real ones serve a few. */
const MOST_SERVED = 50;

/**
 * Pairs of the served versions, the older first.
 *
 * @throws Undecided for more than 50 versions
 */
export function servedPairs({ name, versions }: Crd): [CrdVersion, CrdVersion][] {
  const served = versions
    .filter((version) => version.served)
    .sort((a, b) => compareKubeVersions(a.name, b.name));
  if (served.length > MOST_SERVED) {
    const why = `it serves ${served.length} versions, and at most ${MOST_SERVED} are compared`;
    throw new Undecided(`the versions of ${name}`, why);
  }
  return served.flatMap((older, i) =>
    served.slice(i + 1).map((newer): [CrdVersion, CrdVersion] => [older, newer]),
  );
}

// The CRDs that a bundle in a catalog carries.

/** CRDs among a bundle's manifests; undefined when the catalog does not hold its manifests. */
export const crdsOfBundle: (bundle: Bundle) => readonly Crd[] | undefined = onceFor(
  ({ properties }: Bundle) => {
    const objects = properties.filter(({ type }) => type === 'olm.bundle.object');
    if (objects.length === 0) return undefined;
    return objects.flatMap(({ value }) => {
      const data = objectData(value);
      return data === undefined ? [] : (crdIn(data) ?? []);
    });
  },
);

/** Most characters of manifests that are remembered. */
const MOST_KEPT = 16 * 1024 * 1024;

const crdsByManifest = new Map<string, Crd | undefined>();
let crdsByManifestSize = 0;

/**
 * The CRD in a manifest. Most releases, and most catalogs, repeat the manifest of
 * the one before: equal manifests are one CRD.
 */
function crdIn(data: string): Crd | undefined {
  if (crdsByManifest.has(data)) return crdsByManifest.get(data);
  const crd = readCrd(manifestOfKind('CustomResourceDefinition', data));
  crdsByManifestSize += data.length;
  if (crdsByManifestSize > MOST_KEPT) {
    crdsByManifest.clear();
    crdsByManifestSize = data.length;
  }
  crdsByManifest.set(ownText(data), crd);
  return crd;
}
