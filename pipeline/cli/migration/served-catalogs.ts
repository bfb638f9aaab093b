/** The catalogs of a command line as the ClusterCatalogs of a cluster. */
import { CATALOG_NAME_LABEL } from '../../../catalog/bundle/extension.ts';
import type { ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';
import { isLoadedByV1 } from '../../../catalog/rules/serve-refusals.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { type ClusterObject, numberAt, textAt } from '../../check/cluster.ts';
import { PipelineError } from '../../error.ts';
import type { MovedCatalog } from './cluster-catalogs.ts';
import { type ClusterView, place } from './cluster-view.ts';

/** A catalog, and the ClusterCatalog that serves it. */
export interface ServedCatalog {
  readonly read: ReadCatalog;
  readonly name: string;
  readonly priority: number;
  /** `namespace/name` of the CatalogSources that it stands for; undefined for all of them. */
  readonly sources: readonly string[] | undefined;
}

/** A cluster, with what stands for its catalogs. */
export interface Ground {
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
    const operand = read.prefix.replace(/\/$/, '');
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
      ...view.all('ClusterCatalog').map((one) => place(one).name),
    ];
    throw new PipelineError('usage', `${view.name} has no CatalogSource ${JSON.stringify(called)}`, {
      hint: `use --source CATALOGSOURCE=${operand || read.name}, where CATALOGSOURCE is ${[...new Set(known)].join(' or ')}`,
    });
  });
}

/** The catalogs as OLM v1 sees them when it looks for a package. */
export function scopeOf(served: readonly ServedCatalog[], ofPackage: string): ScopeCatalog[] {
  return served.map(({ read, name, priority }) => ({
    name,
    namespace: '',
    priority,
    catalog: read.catalog,
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
