/**
 * What OLM v1 needs of a bundle beyond the graph: no dependencies, installation for all
 * namespaces, no API services.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go
 */

import type { Bundle } from '../../fbc/model.ts';
import { decodeBase64 } from '../../go/base64.ts';
import { isObject } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { unsupportedProperty } from './extension.ts';

const obstacles = new WeakMap<Bundle, readonly string[]>();

/** Why OLM v1 installs a bundle not at all, or only with features that are off by default. */
export function v1Obstacles(bundle: Bundle): readonly string[] {
  const found = obstacles.get(bundle) ?? findObstacles(bundle);
  obstacles.set(bundle, found);
  return found;
}

function findObstacles(bundle: Bundle): string[] {
  const dependency = unsupportedProperty(bundle);
  const found = dependency ? [`it has dependencies (${dependency})`] : [];
  const spec = csvOf(bundle);
  if (!spec) return found;
  const modes = modesIn(spec);
  if (modes && !modes.has('AllNamespaces')) found.push(isForOne(modes) ? NEEDS_GATE : NAMESPACED);
  const services = spec['apiServiceDefinitions'];
  if (isObject(services) && Array.isArray(services['owned']) && services['owned'].length > 0) {
    found.push('it owns API services');
  }
  return found;
}

const NAMESPACED = 'it does not support the install mode AllNamespaces';
/** With this feature gate, OLM v1 installs what watches a single namespace. */
const NAMESPACE_GATE = 'SingleOwnNamespaceInstallSupport';
const NEEDS_GATE = `${NAMESPACED} (without it, OLM v1 needs the feature gate ${NAMESPACE_GATE})`;

/** What OLM v1 does with a bundle once all of its feature gates are on. */
interface GatedSupport {
  /** Why it installs the bundle not at all. */
  readonly obstacles: readonly string[];
  /** Whether it installs the bundle only for one namespace, with a feature gate. */
  readonly needsNamespace: boolean;
}

export function gatedSupport(bundle: Bundle): GatedSupport {
  const all = v1Obstacles(bundle);
  const obstacles = all.filter((one) => one !== NEEDS_GATE);
  return { obstacles, needsNamespace: obstacles.length < all.length };
}

/** Install modes that a ClusterServiceVersion supports; undefined where it names none. */
function modesIn(spec: Readonly<Record<string, unknown>>): ReadonlySet<unknown> | undefined {
  const modes = Array.isArray(spec['installModes']) ? spec['installModes'].filter(isObject) : [];
  if (modes.length === 0) return undefined;
  return new Set(modes.filter(({ supported }) => supported === true).map(({ type }) => type));
}

function isForOne(modes: ReadonlySet<unknown>): boolean {
  return modes.has('OwnNamespace') || modes.has('SingleNamespace');
}

/** The fields of the ClusterServiceVersion's spec that a bundle's properties tell. */
function csvOf(bundle: Bundle): Readonly<Record<string, unknown>> | undefined {
  const metadata = bundle.properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  if (isObject(metadata)) return metadata;
  for (const { type, value } of bundle.properties) {
    if (type !== 'olm.bundle.object' || !isObject(value) || typeof value['data'] !== 'string') continue;
    const manifest = jsonIn(value['data']);
    if (isObject(manifest) && manifest['kind'] === 'ClusterServiceVersion' && isObject(manifest['spec'])) {
      return manifest['spec'];
    }
  }
  return undefined;
}

/** Enough of a manifest to see its kind, which stands before all that is long. */
const BEGINNING = 400;

/** The ClusterServiceVersion in base64 of JSON; manifests in YAML are left to the rules about bundles. */
function jsonIn(base64: string): unknown {
  // Base64 of `{"`.
  if (!base64.startsWith('ey')) return undefined;
  try {
    if (!atob(base64.slice(0, BEGINNING)).includes('ClusterServiceVersion')) return undefined;
    return parseJson(decodeBase64(base64));
  } catch {
    return undefined;
  }
}
