/**
 * What OLM v1 needs of a bundle beyond the graph: no dependencies, installation for all
 * namespaces, no API services.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/rukpak/render/registryv1/validators/validator.go
 */
import type { Bundle } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { type Manifests, manifestsOfBundle } from '../manifests.ts';
import { unsupportedProperty } from './extension.ts';

/** Why OLM v1 installs a bundle not at all, or only with features that are off by default. */
export const v1Obstacles: (bundle: Bundle) => readonly string[] = onceFor((bundle) =>
  obstaclesIn(bundle, manifestsOfBundle(bundle)),
);

/** Why OLM v1 does not install a bundle, as far as its manifests are known. */
function obstaclesIn(bundle: Bundle, { csv }: Manifests): string[] {
  const dependency = unsupportedProperty(bundle);
  const found = dependency ? [`it has dependencies (${dependency})`] : [];
  const modes = csv?.installModes;
  if (modes && !modes.has('AllNamespaces')) found.push(isForOne(modes) ? NEEDS_GATE : NAMESPACED);
  if (csv && csv.ownedApiServices.length > 0) found.push('it owns API services');
  return found;
}

const NAMESPACED = 'it does not support the install mode AllNamespaces';
/** With this feature gate, OLM v1 installs what watches a single namespace. */
const NAMESPACE_GATE = 'SingleOwnNamespaceInstallSupport';
const NEEDS_GATE = `${NAMESPACED} (without it, OLM v1 needs the feature gate ${NAMESPACE_GATE})`;

/** The support for a bundle when all feature gates of OLM v1 are on. */
interface GatedSupport {
  /** Why it installs the bundle not at all. */
  readonly obstacles: readonly string[];
  /** Whether it installs the bundle only for one namespace, with a feature gate. */
  readonly needsNamespace: boolean;
}

/** What OLM v1 with all feature gates says of a bundle: what only a gate allows is not among the obstacles, but in `needsNamespace`. */
export function gatedSupport(bundle: Bundle): GatedSupport {
  const all = v1Obstacles(bundle);
  const obstacles = all.filter((one) => one !== NEEDS_GATE);
  return { obstacles, needsNamespace: obstacles.length < all.length };
}

/**
 * Whether OLM v1 installs a bundle on no cluster.
 *
 * @param gates on such clusters: those that are on by default, or all that OLM v1 has
 * @param manifests what is known of the bundle, also where the catalog does not hold it
 */
export function isRefusedByV1(bundle: Bundle, gates: 'default' | 'all', manifests?: Manifests): boolean {
  const all = manifests ? obstaclesIn(bundle, manifests) : v1Obstacles(bundle);
  return all.some((one) => gates === 'default' || one !== NEEDS_GATE);
}

function isForOne(modes: ReadonlySet<string>): boolean {
  return modes.has('OwnNamespace') || modes.has('SingleNamespace');
}
