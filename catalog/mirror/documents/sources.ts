/**
 * What makes a mirrored catalog known to a cluster: CatalogSource for OLM, ClusterCatalog
 * for OLM v1, the switch for the default sources, and a kustomization of it all.
 *
 * @see https://github.com/operator-framework/api/blob/master/pkg/operators/v1alpha1/catalogsource_types.go
 * @see https://github.com/operator-framework/operator-controller/blob/main/api/v1/clustercatalog_types.go
 */
import type { Json } from '../../yaml/scalar.ts';
import { InvalidOption } from '../invalid-option.ts';
import { type KubernetesObject, type Metadata, objectText } from '../kubernetes-object.ts';

export interface CatalogSourceOptions {
  readonly displayName?: string | undefined;
  readonly publisher?: string | undefined;
  /** Names of pull secrets in the object's namespace. */
  readonly secrets?: readonly string[] | undefined;
  /** Higher wins when several catalogs can satisfy a dependency. */
  readonly priority?: number | undefined;
  /** How often the registry is asked for a new image, such as `30m`; needs a reference by tag. */
  readonly pollInterval?: string | undefined;
  /** Security context of the catalog's pod. */
  readonly securityContext?: 'restricted' | 'legacy' | undefined;
  /** Directories in the image, for an image that holds a catalog and no server. */
  readonly extractContent?: { readonly cacheDir: string; readonly catalogDir: string } | undefined;
}

/** The namespace that OpenShift's console and OLM look for catalogs in. */
export const MARKETPLACE = 'openshift-marketplace';

/** A CatalogSource for an index image. @throws InvalidOption when an image named by digest is to be polled */
export function catalogSource(
  metadata: Metadata,
  image: string,
  options: CatalogSourceOptions = {},
): KubernetesObject {
  const { displayName, publisher, secrets, priority, pollInterval } = options;
  if (pollInterval !== undefined) checkPoll(image);
  const pod = podConfig(options);
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata,
    spec: present({
      displayName,
      grpcPodConfig: pod,
      image,
      priority,
      publisher,
      secrets: secrets && secrets.length > 0 ? secrets : undefined,
      sourceType: 'grpc',
      updateStrategy: pollInterval === undefined ? undefined : { registryPoll: { interval: pollInterval } },
    }),
  };
}

/** The settings of the catalog's pod; undefined without any, so that the field is left out. */
function podConfig({ securityContext, extractContent }: CatalogSourceOptions): Json | undefined {
  if (securityContext === undefined && extractContent === undefined) return undefined;
  return present({
    extractContent: extractContent && { ...extractContent },
    securityContextConfig: securityContext,
  });
}

export interface ClusterCatalogOptions {
  /** `v1alpha1` is catalogd's own, up to OpenShift 4.17. */
  readonly api: 'olm.operatorframework.io/v1' | 'catalogd.operatorframework.io/v1alpha1';
  /** Higher wins when several catalogs hold a package. */
  readonly priority?: number | undefined;
  /** How often the registry is asked for a new image, such as `30m`; needs a reference by tag. */
  readonly pollInterval?: string | undefined;
  /** Name of a pull secret in catalogd's namespace; v1 takes the cluster's secrets instead. */
  readonly pullSecret?: string | undefined;
}

/**
 * A ClusterCatalog for an index image.
 *
 * @throws InvalidOption when an image named by digest is to be polled, or the API has no such field
 */
export function clusterCatalog(
  metadata: Metadata,
  ref: string,
  options: ClusterCatalogOptions,
): KubernetesObject {
  if (options.pollInterval !== undefined) checkPoll(ref);
  const spec =
    options.api === 'olm.operatorframework.io/v1' ? catalogSpec(ref, options) : catalogdSpec(ref, options);
  return { apiVersion: options.api, kind: 'ClusterCatalog', metadata, spec };
}

/** The `spec` of a ClusterCatalog. @throws InvalidOption for a pull secret, which the API does not have */
function catalogSpec(ref: string, options: ClusterCatalogOptions): Json {
  if (options.pullSecret !== undefined) {
    throw new InvalidOption(
      "a ClusterCatalog of olm.operatorframework.io/v1 has no pull secret: add the credentials to the cluster's global pull secret",
    );
  }
  const { pollInterval } = options;
  const minutes = pollInterval === undefined ? undefined : pollMinutes(pollInterval);
  return present({
    priority: options.priority,
    source: { type: 'Image', image: present({ ref, pollIntervalMinutes: minutes }) },
  });
}

/** The `spec` of a ClusterCatalog of catalogd's own API. */
function catalogdSpec(ref: string, { priority, pollInterval, pullSecret }: ClusterCatalogOptions): Json {
  return present({
    priority,
    source: { type: 'image', image: present({ ref, pollInterval, pullSecret }) },
  });
}

/**
 * Checks that an image can be polled.
 *
 * @throws InvalidOption for one that is named by digest
 */
function checkPoll(reference: string): void {
  if (!reference.includes('@')) return;
  throw new InvalidOption(`${reference} has a digest, which never changes: polling needs a tag`);
}

/**
 * Minutes of a Go duration in hours, minutes and seconds; at least one.
 *
 * @throws InvalidOption for other durations, such as 1.5h
 */
function pollMinutes(interval: string): number {
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(interval);
  if (!match || interval === '') {
    throw new InvalidOption(
      `the poll interval is ${JSON.stringify(interval)}, expected a duration, for example 1h30m`,
    );
  }
  const [hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return Math.max(1, Math.round((hours ?? 0) * 60 + (minutes ?? 0) + (seconds ?? 0) / 60));
}

/** Turns off the sources that OpenShift comes with, which a disconnected cluster cannot reach. */
export function operatorHub(): KubernetesObject {
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'OperatorHub',
    metadata: { name: 'cluster' },
    spec: { disableAllDefaultSources: true },
  };
}

/** A kustomization that applies files in their order. */
export function kustomizationText(files: readonly string[]): string {
  return objectText({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    metadata: { name: 'mirror' },
    resources: files,
    sortOptions: { order: 'fifo' },
  });
}

/** The members that are there. */
function present(members: Readonly<Record<string, Json | undefined>>): Json {
  const entries = Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
