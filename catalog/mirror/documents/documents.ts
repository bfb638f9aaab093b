/**
 * The documents of a plan: everything that a cluster needs to use the mirror.
 */
import { CACHE, CONFIGS } from '../../fbc/cache/layout.ts';
import type { Minor } from '../../fbc/openshift.ts';
import { clustersAccept, tryParsePlatform } from '../../fbc/platform.ts';
import { isObject } from '../../go/shape.ts';
import type { Json } from '../../yaml/scalar.ts';
import { InvalidOption } from '../invalid-option.ts';
import type { KubernetesObject, Metadata } from '../kubernetes-object.ts';
import { destinationRepository, formatDestination, type Placement } from '../placement.ts';
import type { MirrorPlan } from '../plan.ts';
import type { PlannedCatalog } from '../plan-request.ts';
import { type ReleaseSignature, signatureConfigMap } from '../release/signatures.ts';
import { type UpdateGraphImage, updateServices } from '../release/update-service.ts';
import { mirrorEntries } from '../scope.ts';
import { groupOf, type MirrorGroup, mirrorSetNames } from '../style.ts';
import {
  imageContentSourcePolicies,
  imageDigestMirrorSets,
  imageTagMirrorSets,
  MAX_OBJECT_BYTES,
  type SourcePolicy,
} from './mirror-sets.ts';
import { clusterImagePolicies, type Signer } from './signing.ts';
import {
  type CatalogSourceOptions,
  type ClusterCatalogOptions,
  catalogSource,
  clusterCatalog,
  MARKETPLACE,
  operatorHub,
} from './sources.ts';

export interface DocumentOptions {
  /** The OpenShift version of the cluster, such as `4.16`: chooses what goes into the kustomization. */
  readonly platform?: string | undefined;
  /** Signatures of the releases that are mirrored. */
  readonly releaseSignatures?: readonly ReleaseSignature[] | undefined;
  /** The image of the update graph that is mirrored. */
  readonly updateGraph?: UpdateGraphImage | undefined;
  readonly sourcePolicy?: SourcePolicy | undefined;
  /** Most bytes of an ImageDigestMirrorSet or ImageTagMirrorSet. */
  readonly maxBytes?: number | undefined;
  /** Most bytes of an ImageContentSourcePolicy. */
  readonly maxPolicyBytes?: number | undefined;
  readonly catalogSource?: CatalogSourceOptions | undefined;
  readonly clusterCatalog?: Omit<ClusterCatalogOptions, 'api'> | undefined;
  /** CatalogSources to begin from, by the index image's reference. */
  readonly templates?: ReadonlyMap<string, CatalogSourceTemplate> | undefined;
  /** Who signs the images; nodes then demand it. */
  readonly signers?: readonly Signer[] | undefined;
}

/** A CatalogSource whose name, namespace, image and source type are replaced. */
export interface CatalogSourceTemplate {
  readonly metadata: Omit<Metadata, 'name' | 'namespace'>;
  readonly spec: Readonly<Record<string, Json>>;
}

export interface MirrorDocuments {
  readonly contentSourcePolicies: readonly KubernetesObject[];
  readonly digestMirrorSets: readonly KubernetesObject[];
  readonly tagMirrorSets: readonly KubernetesObject[];
  readonly catalogSources: readonly KubernetesObject[];
  readonly clusterCatalogs: readonly KubernetesObject[];
  readonly imagePolicies: readonly KubernetesObject[];
  readonly operatorHub: KubernetesObject;
  readonly releaseSignatures: readonly KubernetesObject[];
  readonly updateServices: readonly KubernetesObject[];
}

/** The label by which `oc delete … -l` finds what oc wrote; we answer to it too. */
const OC_LABEL = { 'operators.openshift.org/catalog': 'true' };

/**
 * Makes the documents of a plan. Clusters cannot pull from files: for such a destination, the lists of mirrors, catalogs and
 * image policies are empty. The OperatorHub and the signatures of releases do not depend on the destination.
 *
 * @throws InvalidOption
 */
export function mirrorDocuments(plan: MirrorPlan, options: DocumentOptions = {}): MirrorDocuments {
  const catalogs = plan.home.transport === 'file' ? [] : plan.catalogs;
  const maxBytes = bytesOption('--max-idms-size', options.maxBytes);
  const maxPolicyBytes = bytesOption('--max-icsp-size', options.maxPolicyBytes);
  const sets = groups(plan).map(({ part, all, group }) => {
    const names = mirrorSetNames(
      plan.style,
      catalogs.map((catalog) => catalog.names),
      group,
    );
    const entries = mirrorEntries(all, plan.scope, part);
    // ImageContentSourcePolicies can have a scope of their own.
    const policyEntries =
      plan.policyScope === plan.scope ? entries : mirrorEntries(all, plan.policyScope, part);
    const metadata = (name: string): Metadata => ({ name, ...labels(plan, name) });
    const setOptions = { sourcePolicy: options.sourcePolicy, maxBytes };
    return {
      policies: imageContentSourcePolicies(policyEntries.digest, metadata(names.icsp), maxPolicyBytes),
      digest: imageDigestMirrorSets(entries.digest, { ...setOptions, metadata: metadata(names.idms) }),
      tag: imageTagMirrorSets(entries.tag, { ...setOptions, metadata: metadata(names.itms) }),
    };
  });
  return {
    contentSourcePolicies: sets.flatMap(({ policies }) => policies),
    digestMirrorSets: sets.flatMap(({ digest }) => digest),
    tagMirrorSets: sets.flatMap(({ tag }) => tag),
    catalogSources: catalogs.map((catalog) => catalogSourceOf(plan, catalog, options)),
    clusterCatalogs: catalogs
      .filter((catalog) => !hasNoClusterCatalog(catalog))
      .map((catalog) => clusterCatalogOf(plan, catalog, options)),
    imagePolicies: clusterImagePolicies(plan, catalogs.length === 0 ? [] : (options.signers ?? [])),
    operatorHub: operatorHub(),
    releaseSignatures: signatureConfigMap(options.releaseSignatures ?? []),
    updateServices: updateServices(plan, options.updateGraph),
  };
}

/**
 * The size that an option sets, or the largest one.
 *
 * @throws InvalidOption for another number
 */
function bytesOption(option: string, value = MAX_OBJECT_BYTES): number {
  if (Number.isInteger(value) && value > 0 && value <= MAX_OBJECT_BYTES) return value;
  throw new InvalidOption(`${option} is ${value}, expected a number of bytes from 1 to ${MAX_OBJECT_BYTES}`);
}

interface Group {
  readonly group: MirrorGroup;
  /** The placements of this group, and those of all groups, among which scopes are chosen. */
  readonly part: readonly Placement[];
  readonly all: readonly Placement[];
}

/** The placements that nodes must find, by the objects that contain them. */
function groups({ home, style, placements }: MirrorPlan): Group[] {
  if (home.transport === 'file') return [];
  // Clusters are told where the catalog's own image and the update graph are; only oc lists the catalog as well.
  const all = placements.filter(
    ({ role, wanted }) =>
      role !== 'graph' && (role !== 'index' || (style === 'oc' && wanted.kind === 'digest')),
  );
  return (['operator', 'generic'] as const)
    .map((group) => ({ group, part: all.filter(({ role }) => groupOf(style, role) === group), all }))
    .filter(({ part }) => part.length > 0);
}

/** The labels of an object, so that people find what was made; oc-mirror gives none. */
function labels({ style }: MirrorPlan, name: string): { labels?: Readonly<Record<string, string>> } {
  if (style === 'oc-mirror') return {};
  if (style === 'oc') return { labels: OC_LABEL };
  return {
    labels: {
      ...OC_LABEL,
      'app.kubernetes.io/instance': name,
      'app.kubernetes.io/managed-by': 'portolan',
    },
  };
}

/** Where index images that were built without a server have their catalog and its cache. */
export const EXTRACTED: { readonly cacheDir: string; readonly catalogDir: string } = {
  cacheDir: `/${CACHE}`,
  catalogDir: `/${CONFIGS}`,
};

/** The CatalogSource for a mirrored catalog: from the template that was given for it, or a new one. */
function catalogSourceOf(
  plan: MirrorPlan,
  catalog: PlannedCatalog,
  { catalogSource: chosen = {}, templates }: DocumentOptions,
): KubernetesObject {
  const given = catalog.serverless ? { extractContent: EXTRACTED, ...chosen } : chosen;
  const image = imageOf(plan, catalog, given.pollInterval);
  const metadata = { name: catalog.names.catalogSource, namespace: MARKETPLACE };
  const template = templates?.get(catalog.reference);
  if (template) {
    const made = catalogSource({ ...template.metadata, ...metadata }, image, given);
    return { ...made, spec: withTemplate(template.spec, specOf(made)) };
  }
  // oc labels the mirror sets alone, and neither tool writes a security context.
  const own = plan.style === 'nested' ? labels(plan, metadata.name) : {};
  const defaults: CatalogSourceOptions = plan.style === 'nested' ? { securityContext: 'restricted' } : {};
  return catalogSource({ ...metadata, ...own }, image, { ...defaults, ...given });
}

/**
 * A `spec` with the template's fields, and the made ones over them. Objects in both, such as `grpcPodConfig`, are merged.
 */
function withTemplate(
  template: Readonly<Record<string, Json>>,
  made: Readonly<Record<string, Json>>,
): Record<string, Json> {
  const merged: Record<string, Json> = { ...template };
  for (const [key, value] of Object.entries(made)) {
    const before = template[key];
    merged[key] = isObject(before) && isObject(value) ? ({ ...before, ...value } as Json) : value;
  }
  return merged;
}

/** The `spec` of an object; an empty one for another kind of value. */
function specOf({ spec }: KubernetesObject): Readonly<Record<string, Json>> {
  return typeof spec === 'object' && spec !== null && !Array.isArray(spec)
    ? (spec as Record<string, Json>)
    : {};
}

/** The ClusterCatalog for a mirrored catalog. */
function clusterCatalogOf(
  plan: MirrorPlan,
  catalog: PlannedCatalog,
  { clusterCatalog: given = {}, platform }: DocumentOptions,
): KubernetesObject {
  // The API of ClusterCatalogs limits the length of tags.
  const ref = hasLongTag(catalog)
    ? `${destinationRepository(catalog.destination)}@${catalog.digest}`
    : imageOf(plan, catalog, given.pollInterval);
  const name = catalog.names.clusterCatalog;
  const own = plan.style === 'nested' ? labels(plan, name) : {};
  // oc-mirror writes the default priority out.
  const defaults = plan.style === 'oc-mirror' ? { priority: 0 } : {};
  return clusterCatalog({ name, ...own }, ref, { api: catalogApi(platform), ...defaults, ...given });
}

/** Characters behind the first colon of a reference by tag, be it that of a port, which the API takes at most. */
const LONGEST_TAG = 127;

/**
 * Whether a tag is longer than a ClusterCatalog may name.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/api/v1/clustercatalog_types.go
 */
function hasLongTag({ destination }: PlannedCatalog): boolean {
  const reference = formatDestination(destination);
  return reference.length - reference.indexOf(':') - 1 > LONGEST_TAG;
}

/** Whether a ClusterCatalog can name a catalog neither by tag, which makes too long a text, nor by a digest that is known. */
export function hasNoClusterCatalog(catalog: PlannedCatalog): boolean {
  return hasLongTag(catalog) && (catalog.digest === undefined || catalog.selected);
}

/**
 * How a cluster names the mirrored catalog: by digest where that is known and nothing
 * polls, so that a cluster changes only when the document does.
 */
function imageOf(plan: MirrorPlan, catalog: PlannedCatalog, pollInterval: string | undefined): string {
  const { destination, digest, selected } = catalog;
  // The digest that is known of a selection is that of the whole catalog.
  const pin =
    plan.style === 'nested' && pollInterval === undefined && !selected
      ? digest
      : writtenDigest(plan, catalog);
  if (pin !== undefined) return `${destinationRepository(destination)}@${pin}`;
  return formatDestination(destination);
}

/** oc keeps the digest of an index that was named by it. */
function writtenDigest(plan: MirrorPlan, { reference }: PlannedCatalog): string | undefined {
  if (plan.style !== 'oc') return undefined;
  const at = reference.indexOf('@');
  return at < 0 ? undefined : reference.slice(at + 1);
}

/**
 * The version of a platform such as `4.16` or `5.0`.
 *
 * @throws InvalidOption
 */
function platformOf(text: string | undefined): Minor | undefined {
  if (text === undefined) return undefined;
  const platform = tryParsePlatform(text);
  if (platform) return platform;
  throw new InvalidOption(
    `--platform is ${JSON.stringify(text)}, expected a version, for example 4.16 or 5.0`,
  );
}

/** The API of ClusterCatalogs that clusters of a platform have. */
function catalogApi(platform: string | undefined): ClusterCatalogOptions['api'] {
  return clustersAccept('olmV1', platformOf(platform))
    ? 'olm.operatorframework.io/v1'
    : 'catalogd.operatorframework.io/v1alpha1';
}

/**
 * What is applied to a cluster of a platform, in order: mirrors, then the switch for the
 * default sources, then the catalogs. Never policies beside mirror sets: nodes up to 4.13
 * refuse the mixture. Not the UpdateService: an operator from these catalogs brings its kind.
 *
 * @param platform `MAJOR.MINOR`; clusters of an unknown one accept what the newest do
 * @throws InvalidOption
 */
export function appliedTo(platform: string | undefined): readonly (keyof MirrorDocuments)[] {
  const version = platformOf(platform);
  const mirrors: readonly (keyof MirrorDocuments)[] = clustersAccept('mirrorSets', version)
    ? ['digestMirrorSets', 'tagMirrorSets']
    : ['contentSourcePolicies'];
  const catalogs: readonly (keyof MirrorDocuments)[] = clustersAccept('clusterCatalogs', version)
    ? ['catalogSources', 'clusterCatalogs']
    : ['catalogSources'];
  const policies: readonly (keyof MirrorDocuments)[] = clustersAccept('imagePolicies', version)
    ? ['imagePolicies']
    : [];
  return [...mirrors, ...policies, 'releaseSignatures', 'operatorHub', ...catalogs];
}
