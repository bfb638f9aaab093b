/**
 * The objects of a cluster that library-olm reads: from what the cluster's client printed, from a folder of manifests such as
 * a must-gather, or from the cluster's API, which is only read.
 */
import { resolve } from 'node:path';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { readObjects } from '../../../catalog/mirror/read.ts';
import { type ClusterObject, itemsOf, textAt, valueAt } from '../../check/cluster.ts';
import { isDirectory, readFolder, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { ClusterApi } from '../inventory/cluster-api.ts';

const OLM_V0 = 'operators.coreos.com';
const OLM_V1 = 'olm.operatorframework.io';
const CRDS = 'apiextensions.k8s.io';

export type Kind =
  | 'Subscription'
  | 'ClusterServiceVersion'
  | 'OperatorGroup'
  | 'OperatorCondition'
  | 'CatalogSource'
  | 'InstallPlan'
  | 'ClusterExtension'
  | 'ClusterCatalog'
  | 'CustomResourceDefinition';

/** Where the API lists each kind that is read. */
const KINDS: Readonly<
  Record<Kind, { readonly group: string; readonly version: string; readonly plural: string }>
> = {
  Subscription: { group: OLM_V0, version: 'v1alpha1', plural: 'subscriptions' },
  ClusterServiceVersion: { group: OLM_V0, version: 'v1alpha1', plural: 'clusterserviceversions' },
  OperatorGroup: { group: OLM_V0, version: 'v1', plural: 'operatorgroups' },
  OperatorCondition: { group: OLM_V0, version: 'v2', plural: 'operatorconditions' },
  CatalogSource: { group: OLM_V0, version: 'v1alpha1', plural: 'catalogsources' },
  InstallPlan: { group: OLM_V0, version: 'v1alpha1', plural: 'installplans' },
  ClusterExtension: { group: OLM_V1, version: 'v1', plural: 'clusterextensions' },
  ClusterCatalog: { group: OLM_V1, version: 'v1', plural: 'clustercatalogs' },
  CustomResourceDefinition: { group: CRDS, version: 'v1', plural: 'customresourcedefinitions' },
};

/** What the client must list for a complete answer. */
export const LISTED: string =
  'subscriptions.operators.coreos.com,csv,operatorgroups,operatorconditions,catalogsources,installplans,clusterextensions,clustercatalogs,crd';

/** The CRDs that library-olm asks for. */
const OBJECT_SETS = 'clusterobjectsets.olm.operatorframework.io';
const EXTENSIONS = 'clusterextensions.olm.operatorframework.io';

export interface ClusterView {
  /** What the cluster is called in messages: its context, or the path as it was typed. */
  readonly name: string;
  /** Each object once. */
  readonly objects: readonly ClusterObject[];
  /** Those of a kind, in all namespaces or in one. */
  readonly all: (kind: Kind, namespace?: string) => readonly ClusterObject[];
  readonly one: (kind: Kind, namespace: string, name: string) => ClusterObject | undefined;
  /**
   * Whether an object of the kind that is not among `objects` is not on the cluster either. Of ClusterExtensions, also known if
   * there are ClusterCatalogs, or CRDs without theirs.
   */
  readonly knows: (kind: Kind) => boolean;
}

/** What of a folder is read: a must-gather of a large cluster has 100,000 files of other kinds. */
const LIMITS = { mostFiles: 200_000, mostBytes: 512 * 1024 * 1024 };

/** A view of objects in a list. @param isWhole whether they are all that the cluster has of the kinds that are read */
export function viewOf(name: string, objects: readonly ClusterObject[], isWhole = false): ClusterView {
  // A folder may have an object in a list and in a file of its own.
  const unique = new Map<string, ClusterObject>();
  for (const object of objects) {
    const key = keyOf(object);
    if (key !== undefined && !unique.has(key)) unique.set(key, object);
  }
  const distinct = [...unique.values()];
  const byKind = groupedBy(distinct, ({ kind }) => kind);
  const inNamespace = groupedBy(distinct, (one) =>
    JSON.stringify([one['kind'], placeOfObject(one).namespace]),
  );
  const all = (kind: Kind, namespace?: string): readonly ClusterObject[] =>
    (namespace === undefined ? byKind.get(kind) : inNamespace.get(JSON.stringify([kind, namespace]))) ?? [];
  // The CRDs were listed, and that of ClusterExtensions is not among them: the cluster has no OLM v1.
  const isWithoutExtensions =
    byKind.has('CustomResourceDefinition') &&
    !unique.has(JSON.stringify(['CustomResourceDefinition', '', EXTENSIONS]));
  const isOlmV1 = (kind: Kind): boolean => KINDS[kind].group === OLM_V1;
  const knows = (kind: Kind): boolean =>
    isWhole ||
    byKind.has(kind) ||
    // Clusters with OLM v1 come with ClusterCatalogs: whoever listed these listed the ClusterExtensions, too.
    (isOlmV1(kind) &&
      (isWithoutExtensions || byKind.has('ClusterCatalog') || byKind.has('ClusterExtension')));
  const one = (kind: Kind, namespace: string, object: string): ClusterObject | undefined =>
    unique.get(JSON.stringify([kind, namespace, object]));
  return { name, objects: distinct, all, one, knows };
}

/** Namespace and name; an empty namespace for an object of the whole cluster. */
export function placeOfObject(object: ClusterObject): { readonly namespace: string; readonly name: string } {
  return { namespace: textAt(object, 'metadata', 'namespace'), name: textAt(object, 'metadata', 'name') };
}

/**
 * What identifies an object of a cluster; undefined for kinds that are not read, such as the Subscriptions of Knative.
 */
function keyOf(object: ClusterObject): string | undefined {
  const kind = textAt(object, 'kind');
  const read = Object.entries(KINDS).find(([own]) => own === kind)?.[1];
  if (!read || !textAt(object, 'apiVersion').startsWith(`${read.group}/`)) return undefined;
  const { namespace, name } = placeOfObject(object);
  return JSON.stringify([kind, namespace, name]);
}

/**
 * Reads a file or a folder.
 *
 * @param written what the path is called in messages
 * @throws PipelineError `usage` for what cannot be read or has no Subscription, `too-large`, `not-found`, `io`
 */
export async function viewOfPath(written: string, directory: string): Promise<ClusterView> {
  const path = resolve(directory, written);
  const objects = isDirectory(path)
    ? await objectsInFolder(path, written)
    : objectsIn(readText(path), written);
  const view = viewOf(written, objects);
  if (view.all('Subscription').length > 0 || view.all('ClusterExtension').length > 0) return view;
  throw new PipelineError('usage', `${written} has no Subscription and no ClusterExtension`, {
    hint: `oc get ${LISTED} -A -o json > FILE, or the folder of a must-gather`,
  });
}

/** What names a kind that is read, in YAML or JSON. */
const NAMES_KIND =
  /kind['"]?:\s*['"]?(?:Subscription|ClusterServiceVersion|Operator(?:Group|Condition)|CatalogSource|InstallPlan|Cluster(?:Extension|Catalog)|CustomResourceDefinition|List)\b/;

/** Where a must-gather has the objects of one API group. */
const GROUP_FOLDER = /(?:^|\/)(?:namespaces\/[^/]+|cluster-scoped-resources)\/([^/]+)\//;

/** The objects in the files of a folder. Files that name no kind of interest are not parsed: a must-gather has many. */
async function objectsInFolder(path: string, written: string): Promise<ClusterObject[]> {
  const objects: ClusterObject[] = [];
  for await (const file of readFolder(path, { isWanted, ...LIMITS })) {
    const text = Buffer.from(file.bytes).toString('utf8');
    if (NAMES_KIND.test(text)) objects.push(...objectsIn(text, `${written}/${file.path}`));
  }
  return objects;
}

/** Whether a file may have objects that are read: by its group's folder in a must-gather; anywhere else, any YAML or JSON may. */
function isWanted(path: string): boolean {
  const group = GROUP_FOLDER.exec(path)?.[1];
  const isOurs = group === undefined || group === OLM_V0 || group === OLM_V1 || group === CRDS;
  return isOurs && /\.(?:ya?ml|json)$/.test(path);
}

/** The objects in a text, which may be lists. @throws PipelineError `usage` for what is neither JSON nor YAML */
function objectsIn(text: string, written: string): ClusterObject[] {
  if (/^\s*[{[]/.test(text)) return itemsOf(text, written);
  const { objects, findings } = readObjects(text, written);
  const [wrong] = findings;
  if (!wrong) return objects.map(({ value }) => value);
  const { file, line } = wrong.location;
  throw new PipelineError('usage', `${file}:${line}: ${wrong.message}`);
}

/**
 * Reads a cluster.
 *
 * @throws PipelineError `not-found` for a cluster without OLM v0, and what the API throws
 */
export async function viewOfCluster(api: ClusterApi, name: string): Promise<ClusterView> {
  const objects: ClusterObject[] = [];
  for (const [kind, { group, version, plural }] of Object.entries(KINDS)) {
    if (kind === 'CustomResourceDefinition') continue;
    // They have a copy in each namespace that they watch.
    const selector = kind === 'ClusterServiceVersion' ? '!olm.copiedFrom' : undefined;
    const items = await api.list(`/apis/${group}/${version}/${plural}`, selector);
    if (!items && kind === 'Subscription')
      throw new PipelineError('not-found', `cluster ${JSON.stringify(name)} has no OLM v0`);
    for (const item of items ?? []) objects.push(withKind(item, kind, `${group}/${version}`));
  }
  // A cluster has hundreds of CRDs, with large schemas: two of them are read.
  for (const crd of [OBJECT_SETS, EXTENSIONS]) {
    const found = await api.get(`/apis/${CRDS}/v1/customresourcedefinitions/${crd}`);
    if (found !== undefined) objects.push(withKind(found, 'CustomResourceDefinition', `${CRDS}/v1`));
  }
  return viewOf(name, objects, true);
}

/** An item of the API's list, which need not say its kind. */
function withKind(item: unknown, kind: string, apiVersion: string): ClusterObject {
  if (textAt(item, 'metadata', 'name') !== '') return { ...(item as ClusterObject), kind, apiVersion };
  // An object that cannot be understood is not one less that is installed.
  throw new PipelineError('bad-answer', `the cluster answered with a ${kind} without metadata.name`);
}

/** Whether the cluster can store what library-olm makes; the reason in library-olm's words. */
export function objectSetsOf(view: ClusterView): { readonly established: boolean; readonly reason: string } {
  const crd = view.one('CustomResourceDefinition', '', OBJECT_SETS);
  if (!crd)
    return {
      established: false,
      reason: `ClusterObjectSet CRD "${OBJECT_SETS}" is required before migration`,
    };
  const conditions = valueAt(crd, 'status', 'conditions');
  const established =
    Array.isArray(conditions) &&
    conditions.some((one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True');
  return established
    ? { established, reason: 'ClusterObjectSet CRD is established' }
    : { established, reason: `ClusterObjectSet CRD "${OBJECT_SETS}" is not established` };
}

/** What ClusterExtensions may say on the cluster: `spec` of their schema; undefined where it is not known. */
function extensionSpec(view: ClusterView): unknown {
  const versions = valueAt(view.one('CustomResourceDefinition', '', EXTENSIONS), 'spec', 'versions');
  const served = Array.isArray(versions) ? versions.find((one) => textAt(one, 'name') === 'v1') : undefined;
  return valueAt(served, 'schema', 'openAPIV3Schema', 'properties', 'spec');
}

/** Whether the cluster's OLM v1 manages namespaces: its CRD does not require `spec.namespace`. */
export function managesNamespaces(view: ClusterView): boolean {
  const spec = extensionSpec(view);
  const required = valueAt(spec, 'required');
  const has = valueAt(spec, 'properties', 'namespace') !== undefined;
  return has && !(Array.isArray(required) && required.includes('namespace'));
}

/** Whether the cluster would drop `spec.config`, which only the experimental CRD has. */
export function dropsConfig(view: ClusterView): boolean {
  const properties = valueAt(extensionSpec(view), 'properties');
  return properties !== undefined && valueAt(properties, 'config') === undefined;
}
