/**
 * What clusters install of a bundle, as far as it decides whether they can: the APIs of its manifests, and the
 * parts of its ClusterServiceVersion about install modes, webhooks and permissions.
 */

import { manifestIn, objectData } from '../fbc/bundle-object.ts';
import type { Bundle } from '../fbc/model.ts';
import { canonicalJson } from '../fbc/same-bundle.ts';
import { decodeBase64 } from '../go/base64.ts';
import { onceFor } from '../go/once.ts';
import { isObject, objectOf, textOf } from '../go/shape.ts';
import { ownText } from '../go/text.ts';
import { usedImages } from '../references/csv.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The known parts of a bundle's manifests. */
export interface Manifests {
  /** The ClusterServiceVersion; undefined where none is known. */
  readonly csv: CsvFacts | undefined;
  /** The API of each manifest; undefined where the catalog has only the ClusterServiceVersion's metadata. */
  readonly objects: readonly ManifestApi[] | undefined;
}

/** A manifest by its API and its name. */
export interface ManifestApi {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Parts of a ClusterServiceVersion. */
export interface CsvFacts {
  /** Its `metadata.name`; empty where that is not known. */
  readonly name: string;
  /** Its `spec.version` as written; empty where that is not known. */
  readonly version: string;
  /** As written; empty for none. */
  readonly minKubeVersion: string;
  /** The install modes that it supports; undefined where it lists none at all. */
  readonly installModes: ReadonlySet<string> | undefined;
  /** Names of the CRDs that it owns. */
  readonly ownedCrds: readonly string[];
  /** APIs that it requires from other operators. */
  readonly requiredCrds: readonly RequiredCrd[];
  /** Names of the API services that it owns. */
  readonly ownedApiServices: readonly string[];
  /** Names of the deployments that serve these. */
  readonly apiServers: readonly string[];
  /** Its deployments; undefined where they are not known. */
  readonly deployments: readonly Deployment[] | undefined;
  /** Its webhooks; undefined where they are not known. */
  readonly webhooks: readonly Webhook[] | undefined;
  /** Images that its deployments run, or name in `RELATED_IMAGE_…` variables; undefined where they are not known. */
  readonly images: readonly string[] | undefined;
  /** Its permissions; undefined if unknown. */
  readonly permissions: readonly Permission[] | undefined;
}

/** A CRD by its name, such as `things.example.com`, and the kind of its objects. */
export interface RequiredCrd {
  readonly name: string;
  readonly kind: string;
}

/** A webhook, with the defaults of Kubernetes. */
export interface Webhook {
  readonly name: string;
  readonly type: string;
  readonly failurePolicy: string;
  /** Its rules in words, such as `pods (CREATE UPDATE)`. */
  readonly rules: readonly string[];
  /** What its rules apply to. */
  readonly targets: readonly Pick<AccessRule, 'apiGroups' | 'resources'>[];
  /** Name of the deployment that serves it. */
  readonly deployment: string;
}

/** A deployment of an operator. */
interface Deployment {
  readonly name: string;
  /** By which labels it finds its pods, as a text: Kubernetes never changes that. Empty where it does not say. */
  readonly selector: string;
  /** What its pods may do on their nodes that others may not, such as `privileged containers`. */
  readonly privileges: readonly string[];
}

/** Rules of access of one service account. */
export interface Permission {
  /** Whether they hold in every namespace, or only in those that the operator watches. */
  readonly wide: boolean;
  readonly account: string;
  readonly rules: readonly AccessRule[];
}

/** `rbacv1.PolicyRule`. */
export interface AccessRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What a bundle says of its manifests: their objects if it has them, else the metadata that opm makes from them. */
export const manifestsOfBundle: (bundle: Bundle) => Manifests = onceFor(({ properties }: Bundle) => {
  const metadata = properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  const fromMetadata = isObject(metadata) ? metadataFacts(metadata) : undefined;
  const data = properties.flatMap(({ type, value }) => {
    const text = type === 'olm.bundle.object' ? objectData(value) : undefined;
    return text === undefined ? [] : [text];
  });
  if (data.length === 0) return { csv: fromMetadata, objects: undefined };
  // Manifests say more than the metadata that is made from them.
  const { csv = fromMetadata, objects } = manifestsOf(data.map(partIn));
  return { csv, objects };
});

/**
 * All manifests of a bundle as one value: the API of each, and the first ClusterServiceVersion, because a sound bundle
 * has only one.
 */
export function manifestsOf(parts: readonly ManifestPart[]): Manifests {
  return {
    csv: parts.find(({ csv }) => csv !== undefined)?.csv,
    objects: parts.flatMap(({ api }) => api ?? []),
  };
}

/** One manifest. */
export interface ManifestPart {
  readonly api: ManifestApi | undefined;
  readonly csv: CsvFacts | undefined;
}

/** What is kept of a manifest: its kind and name, and the facts of a ClusterServiceVersion. */
export function manifestPart(value: unknown): ManifestPart {
  if (!isObject(value)) return { api: undefined, csv: undefined };
  const kind = textOf(value['kind']);
  const api = {
    apiVersion: textOf(value['apiVersion']),
    kind,
    name: textOf(objectOf(value['metadata'])['name']),
  };
  return {
    api,
    csv: kind === 'ClusterServiceVersion' ? csvFacts(api.name, value) : undefined,
  };
}

/** Most characters of manifests that are remembered. */
const MOST_KEPT = 16 * 1024 * 1024;

const partsByText = new Map<string, ManifestPart>();
let partsSize = 0;

/** The manifest in a property, read once: most catalogs repeat the manifests of others. */
function partIn(data: string): ManifestPart {
  const found = partsByText.get(data);
  if (found) return found;
  const part = beginningOfCrd(data) ?? manifestPart(manifestIn(data));
  partsSize += data.length;
  if (partsSize > MOST_KEPT) {
    partsByText.clear();
    partsSize = data.length;
  }
  partsByText.set(ownText(data), part);
  return part;
}

/** Characters of base64 in which the kind of a CRD is found. */
const BEGINNING = 400;
/** The beginning of most manifests: JSON from opm has its keys in order. */
const CRD_KIND = /^\{"apiVersion":"(apiextensions\.k8s\.io\/[a-z0-9]+)","kind":"CustomResourceDefinition"/;

/**
 * A CRD of v1, which is long, by its beginning; undefined for everything else. It has no name here: rules name only
 * manifests of APIs that Kubernetes removed, as v1beta1 is.
 */
function beginningOfCrd(data: string): ManifestPart | undefined {
  const text = new TextDecoder().decode(decodeBase64(data.slice(0, BEGINNING)));
  const apiVersion = CRD_KIND.exec(text)?.[1];
  if (apiVersion !== 'apiextensions.k8s.io/v1') return undefined;
  return { api: { apiVersion, kind: 'CustomResourceDefinition', name: '' }, csv: undefined };
}

/** What is kept of a ClusterServiceVersion. */
function csvFacts(name: string, csv: Fields): CsvFacts {
  const spec = objectOf(csv['spec']);
  const strategy = objectOf(objectOf(spec['install'])['spec']);
  return {
    name,
    version: textOf(spec['version']),
    minKubeVersion: textOf(spec['minKubeVersion']),
    installModes: modesIn(spec['installModes']),
    ownedCrds: ownedIn(spec['customresourcedefinitions']),
    requiredCrds: requiredIn(spec['customresourcedefinitions']),
    ownedApiServices: ownedIn(spec['apiservicedefinitions']),
    apiServers: list(objectOf(spec['apiservicedefinitions'])['owned']).map((one) =>
      textOf(one['deploymentName']),
    ),
    deployments: list(strategy['deployments']).map(deploymentIn),
    webhooks: list(spec['webhookdefinitions']).map(webhookIn),
    images: [...new Set(usedImages(csv).map(({ image }) => image))],
    permissions: [
      ...permissionsIn(strategy['clusterPermissions'], true),
      ...permissionsIn(strategy['permissions'], false),
    ],
  };
}

/** What a catalog keeps of a ClusterServiceVersion if its manifests are only in the image; the rest is unknown. */
function metadataFacts(metadata: Fields): CsvFacts {
  return {
    name: '',
    version: '',
    minKubeVersion: textOf(metadata['minKubeVersion']),
    installModes: modesIn(metadata['installModes']),
    ownedCrds: ownedIn(metadata['crdDescriptions']),
    requiredCrds: requiredIn(metadata['crdDescriptions']),
    ownedApiServices: ownedIn(metadata['apiServiceDefinitions']),
    // Whoever asks for them compares them with the deployments.
    apiServers: [],
    deployments: undefined,
    webhooks: undefined,
    images: undefined,
    permissions: undefined,
  };
}

function modesIn(value: unknown): ReadonlySet<string> | undefined {
  const modes = list(value);
  if (modes.length === 0) return undefined;
  return new Set(modes.filter(({ supported }) => supported === true).map(({ type }) => textOf(type)));
}

function ownedIn(listed: unknown): string[] {
  return list(objectOf(listed)['owned']).map(({ name }) => textOf(name));
}

function requiredIn(listed: unknown): RequiredCrd[] {
  return list(objectOf(listed)['required']).map(({ name, kind }) => ({
    name: textOf(name),
    kind: textOf(kind),
  }));
}

/** What is kept of a webhook's definition. */
function webhookIn(webhook: Fields): Webhook {
  return {
    name: textOf(webhook['generateName']),
    type: textOf(webhook['type']),
    failurePolicy: textOf(webhook['failurePolicy']) || 'Fail',
    rules: list(webhook['rules']).map(
      (rule) => `${texts(rule['resources']).join(' ')} (${texts(rule['operations']).join(' ')})`,
    ),
    targets: list(webhook['rules']).map((rule) => ({
      apiGroups: texts(rule['apiGroups']),
      resources: texts(rule['resources']),
    })),
    deployment: textOf(webhook['deploymentName']),
  };
}

function deploymentIn({ name, spec }: Fields): Deployment {
  return {
    name: textOf(name),
    selector: selectorText(objectOf(objectOf(spec)['selector'])),
    privileges: privilegesIn(objectOf(objectOf(objectOf(spec)['template'])['spec'])),
  };
}

/** What Kubernetes compares of a selector: the order of labels means nothing to it, that of expressions does. */
function selectorText(selector: Fields): string {
  const [labels, expressions] = [objectOf(selector['matchLabels']), list(selector['matchExpressions'])];
  return Object.keys(labels).length + expressions.length === 0 ? '' : canonicalJson([labels, expressions]);
}

/** Capabilities with which a container can become root of its node. */
const STRONG = ['ALL', 'SYS_ADMIN', 'SYS_MODULE', 'SYS_PTRACE', 'SYS_RAWIO', 'BPF', 'DAC_READ_SEARCH'];

/** What the standard `baseline` for pods forbids, and root. */
function privilegesIn(pod: Fields): string[] {
  const own = objectOf(pod['securityContext']);
  const contexts = [...list(pod['initContainers']), ...list(pod['containers'])].map((container) => ({
    // Kubernetes lets a container inherit the user of its pod.
    runAsUser: own['runAsUser'],
    ...objectOf(container['securityContext']),
  })) as Fields[];
  const capabilities = contexts.flatMap((one) => texts(objectOf(one['capabilities'])['add']));
  return [
    ...(contexts.some((one) => one['privileged'] === true) ? ['privileged containers'] : []),
    ...(contexts.some((one) => one['runAsUser'] === 0) ? ['containers that run as root'] : []),
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => pod[key] === true),
    ...(list(pod['volumes']).some((volume) => isObject(volume['hostPath'])) ? ['hostPath volumes'] : []),
    ...STRONG.filter((name) => capabilities.some((one) => one.replace(/^CAP_/, '') === name)).map(
      (name) => `the capability ${name}`,
    ),
  ];
}

/**
 * What is kept of a list of permissions.
 *
 * @param wide whether they hold in all namespaces
 */
function permissionsIn(value: unknown, wide: boolean): Permission[] {
  return list(value).map(({ serviceAccountName, rules }) => ({
    wide,
    account: textOf(serviceAccountName),
    rules: list(rules).map((rule) => ({
      verbs: texts(rule['verbs']),
      apiGroups: texts(rule['apiGroups']),
      resources: texts(rule['resources']),
      resourceNames: texts(rule['resourceNames']),
      nonResourceURLs: texts(rule['nonResourceURLs']),
    })),
  }));
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
