/**
 * From CatalogSources to ClusterCatalogs, as library-olm's migrate-catalogs-v0-to-v1 does it.
 *
 * @see https://github.com/operator-framework/library-olm/blob/2b9cf63f8c803cc405350fd47d9a57dff99e3e43/migration/pkg/catalogmigration/catalogmigration.go
 */

import { CATALOG_NAME_LABEL } from '../../../catalog/bundle/extension.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';
import { isLoadedByV1 } from '../../../catalog/rules/serve-refusals.ts';
import type { Json } from '../../../catalog/yaml/scalar.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { type ClusterObject, numberAt, textAt, valueAt } from '../../check/cluster.ts';
import { PipelineError } from '../../error.ts';
import { type ClusterView, placeOfObject } from './cluster-view.ts';

/** What becomes of a CatalogSource. */
export interface MovedCatalog {
  /** `namespace/name` of the CatalogSource. */
  readonly source: string;
  readonly image: string;
  /** Of the ClusterCatalog; empty for a source that is left. */
  readonly name: string;
  readonly priority: number;
  readonly status: 'create' | 'adopt' | 'skip';
  /** In library-olm's words. */
  readonly reason: string;
  readonly notes: readonly string[];
  /** What to create. */
  readonly document?: Json;
}

/** All CatalogSources of a cluster, by namespace and name. */
export function movedCatalogs(view: ClusterView): MovedCatalog[] {
  const sources = [...view.all('CatalogSource')].sort((a, b) => compareText(refOf(a), refOf(b)));
  const created = new Map<string, string>();
  return sources.map((source) => {
    const moved = movedCatalog(source, { view, sources, created });
    if (moved.status === 'create') created.set(moved.name, moved.image);
    return moved;
  });
}

interface AdoptionContext {
  readonly view: ClusterView;
  readonly sources: readonly ClusterObject[];
  /** Images by the names of the ClusterCatalogs before. */
  readonly created: ReadonlyMap<string, string>;
}

/** `namespace/name`. */
function refOf(source: ClusterObject): string {
  const { namespace, name } = placeOfObject(source);
  return `${namespace}/${name}`;
}

/** The image of a CatalogSource; empty where it has another source than an image. */
function imageOf(source: ClusterObject): string {
  return textAt(source, 'spec', 'sourceType') === 'grpc' ? textAt(source, 'spec', 'image') : '';
}

/** Largest priority of a ClusterCatalog: an int32. */
const LARGEST = 2 ** 31 - 1;

/** What becomes of a CatalogSource: a new ClusterCatalog, an existing one that has its image, or a reason to skip it. */
function movedCatalog(source: ClusterObject, around: AdoptionContext): MovedCatalog {
  const image = imageOf(source);
  const about = { source: refOf(source), image, notes: notesOf(source) };
  const skip = (reason: string): MovedCatalog => ({
    ...about,
    name: '',
    priority: 0,
    status: 'skip',
    reason,
  });
  if (image === '') return skip(whyUnsupported(source));
  const priority = numberAt(source, 'spec', 'priority');
  if (priority > LARGEST || priority < -LARGEST - 1)
    return skip(
      `spec.priority ${priority} is out of int32 range; pass --acknowledge-priority-overflow to cap and proceed`,
    );
  const name = nameOf(source, around.sources);
  // The image of the ClusterCatalog that an earlier CatalogSource becomes under this name.
  const createdImage = around.created.get(name);
  if (createdImage === image) {
    const reason = `consolidated into shared ClusterCatalog ${name}`;
    return { ...about, name, priority, status: 'adopt', reason };
  }
  const adopted = adoptable(around.view, { image, name });
  if (adopted) {
    const reason = 'existing ClusterCatalog with matching image adopted';
    return {
      ...about,
      name: placeOfObject(adopted).name,
      priority: numberAt(adopted, 'spec', 'priority'),
      status: 'adopt',
      reason,
    };
  }
  const other = around.view.one('ClusterCatalog', '', name);
  if (other || createdImage !== undefined) {
    const found = createdImage ?? textAt(other, 'spec', 'source', 'image', 'ref');
    return skip(
      `ClusterCatalog ${name} already exists with image ${JSON.stringify(found)}, which does not match CatalogSource image ${JSON.stringify(image)}`,
    );
  }
  const document = catalogDocument(source, { name, image, priority });
  return { ...about, name, priority, status: 'create', reason: `created from image ${image}`, document };
}

/** Why a CatalogSource without an image cannot become a ClusterCatalog, in library-olm's words. */
function whyUnsupported(source: ClusterObject): string {
  const type = textAt(source, 'spec', 'sourceType');
  if (type === 'grpc') return 'grpc address-only CatalogSource (no spec.image) has no OLMv1 equivalent';
  return type === 'configmap' || type === 'internal'
    ? `${type}-type CatalogSource has no OLMv1 equivalent`
    : `unsupported sourceType ${JSON.stringify(type)}`;
}

/** Its own name, with the namespace where another image has the name, too. */
function nameOf(source: ClusterObject, sources: readonly ClusterObject[]): string {
  const { namespace, name } = placeOfObject(source);
  const images = sources
    .filter((one) => placeOfObject(one).name === name)
    .map(imageOf)
    .filter((image) => image !== '');
  return new Set(images).size > 1 ? `${name}-${namespace}` : name;
}

/** The ClusterCatalog with the same image: the one of the same name, else the first. */
function adoptable(
  view: ClusterView,
  { image, name }: { readonly image: string; readonly name: string },
): ClusterObject | undefined {
  const alike = view
    .all('ClusterCatalog')
    .filter((one) => textAt(one, 'spec', 'source', 'image', 'ref') === image)
    .sort((a, b) => compareText(placeOfObject(a).name, placeOfObject(b).name));
  return alike.find((one) => placeOfObject(one).name === name) ?? alike[0];
}

/** What a ClusterCatalog cannot keep of a CatalogSource. */
function notesOf(source: ClusterObject): string[] {
  const secrets = valueAt(source, 'spec', 'secrets');
  const count = Array.isArray(secrets) ? secrets.length : 0;
  return [
    ...(count > 0
      ? [
          `spec.secrets (${count} secret(s)) has no OLMv1 equivalent; OLMv1 uses the cluster global pull secret`,
        ]
      : []),
    ...(valueAt(source, 'spec', 'grpcPodConfig') === undefined
      ? []
      : ['spec.grpcPodConfig has no OLMv1 equivalent; catalogd manages the serving pod configuration']),
  ];
}

/** The ClusterCatalog for a CatalogSource. */
function catalogDocument(
  source: ClusterObject,
  { name, image, priority }: { readonly name: string; readonly image: string; readonly priority: number },
): Json {
  const minutes = pollMinutes(source, image);
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: {
      name,
      annotations: { 'olm.operatorframework.io/migrated-from-catalogsource': refOf(source) },
    },
    spec: {
      priority,
      source: {
        type: 'Image',
        image: { ref: image, ...(minutes === undefined ? {} : { pollIntervalMinutes: minutes }) },
      },
    },
  };
}

/**
 * How often OLM v1 should look for a newer image: as often as the CatalogSource says, in whole minutes, at least
 * one. Undefined where that says nothing, and for a digest, which never changes.
 */
function pollMinutes(source: ClusterObject, image: string): number | undefined {
  const interval = textAt(source, 'spec', 'updateStrategy', 'registryPoll', 'interval');
  if (image.includes('@sha256:') || interval === '') return undefined;
  // A duration of Go, such as `1h30m`. The look-behind keeps a long run of digits from being tried at each of them.
  const parts = [...interval.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit ?? ''] ?? 0), 0);
  return seconds === 0 ? undefined : Math.max(1, Math.trunc(seconds / 60));
}

const SECONDS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

// The catalogs of a command line as the ClusterCatalogs of a cluster.

/** A catalog, and the ClusterCatalog that serves it. */
export interface ServedCatalog {
  readonly read: ReadCatalog;
  readonly name: string;
  readonly priority: number;
  /**
   * `namespace/name` of the CatalogSources that it stands for: none for a ClusterCatalog that no source became, undefined
   * for all of them, if the only catalog on the command line is not on the cluster.
   */
  readonly sources: readonly string[] | undefined;
}

/** A cluster, with what stands for its catalogs. */
export interface ClusterCatalogs {
  readonly view: ClusterView;
  readonly moved: readonly MovedCatalog[];
  readonly served: readonly ServedCatalog[];
}

/**
 * Which ClusterCatalog each catalog is.
 *
 * @param named CatalogSource or ClusterCatalog by the catalog's name on the command line
 * @throws PipelineError `usage` where that is not known
 */
export function servedCatalogs(
  catalogs: readonly ReadCatalog[],
  {
    view,
    moved,
    named,
  }: {
    readonly view: ClusterView;
    readonly moved: readonly MovedCatalog[];
    readonly named: ReadonlyMap<string, string>;
  },
): ServedCatalog[] {
  return catalogs.flatMap((read) => {
    // `read.name` is the last part of it, or a tag. For the current directory the operand is empty.
    const operand = operandOf(read.prefix);
    const called = named.get(operand) ?? named.get(read.name) ?? read.name;
    const sources = moved.filter(
      ({ source, image, name }) => source.endsWith(`/${called}`) || name === called || image === operand,
    );
    const [first] = sources.filter(({ status }) => status !== 'skip');
    if (first)
      return {
        read,
        name: first.name,
        priority: first.priority,
        sources: sources.map(({ source }) => source),
      };
    // A source that cannot become a ClusterCatalog serves nothing under OLM v1.
    if (sources.length > 0) return [];
    const existing = view.one('ClusterCatalog', '', called);
    if (existing)
      return { read, name: called, priority: numberAt(existing, 'spec', 'priority'), sources: [] };
    if (catalogs.length === 1) return { read, name: called, priority: 0, sources: undefined };
    const known = [
      ...moved.map(({ source }) => source.replace(/.*\//, '')),
      ...view.all('ClusterCatalog').map((one) => placeOfObject(one).name),
    ];
    throw new PipelineError('usage', `${view.name} has no CatalogSource ${JSON.stringify(called)}`, {
      hint: `use --source CATALOGSOURCE=${operand || read.name}, where CATALOGSOURCE is ${[...new Set(known)].join(' or ')}`,
    });
  });
}

/** A catalog as it was typed, from what stands before its paths. */
export function operandOf(prefix: string): string {
  return prefix.replace(/\/$/, '');
}

/** The catalogs as OLM v1 sees them when it looks for a package. */
export function scopeOf(served: readonly ServedCatalog[], ofPackage: string): ScopeCatalog[] {
  return served.map(({ read, name, priority }) => ({
    name,
    namespace: '',
    priority,
    catalog: read.catalog,
    // OLM v1 loads one package at a time: only what could not be read of this one matters.
    serving: isLoadedByV1(read.unread, ofPackage),
    labels: { [CATALOG_NAME_LABEL]: name },
  }));
}

/** The catalog that stands for the CatalogSource of a Subscription; undefined where it was not given. */
export function servedFor(
  served: readonly ServedCatalog[],
  moved: readonly MovedCatalog[],
  subscription: ClusterObject,
): ServedCatalog | undefined {
  const source = sourceOf(subscription);
  const found = served.find(({ sources }) => sources === undefined || sources.includes(source));
  if (!found || found.sources !== undefined) return found;
  // The catalog stands for every source: it gets the name that this one's ClusterCatalog will have.
  const own = moved.find((one) => one.source === source && one.status !== 'skip');
  return {
    ...found,
    name: own?.name ?? textAt(subscription, 'spec', 'source'),
    priority: own?.priority ?? 0,
  };
}

/** `namespace/name` of the CatalogSource of a Subscription. */
export function sourceOf(subscription: ClusterObject): string {
  return `${textAt(subscription, 'spec', 'sourceNamespace')}/${textAt(subscription, 'spec', 'source')}`;
}
