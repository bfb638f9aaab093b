/**
 * The graphs of catalogs as a document for machines and for the page: what each resolver
 * will really do from every bundle, with the reasons where it does nothing.
 */
import { installedOf } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { checkedPackages, type Olm, type World } from '../foresight/world.ts';
import { reasonOf, upgradeOf } from '../resolve/outcome.ts';
import { type HopLane, hopGraph } from './hop-graph.ts';

/** As JSON a public interface. */
export interface GraphDocument {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'UpgradeGraph';
  readonly catalogs: readonly CatalogGraph[];
}

export interface CatalogGraph {
  readonly name: string;
  readonly packages: readonly PackageGraph[];
}

export interface PackageGraph {
  readonly package: string;
  readonly defaultChannel: string;
  /** The message, where the package is deprecated. */
  readonly deprecated?: string;
  /** One a channel, the default one first: under OLM v1 for an extension that selects it alone. */
  readonly lanes: readonly HopLane[];
  /** Deprecation messages of channels. */
  readonly deprecatedChannels: Readonly<Record<string, string>>;
  readonly bundles: readonly BundleNote[];
}

export interface BundleNote {
  readonly name: string;
  /** Empty where it is unknown. */
  readonly version: string;
  readonly deprecated?: string;
  /** The upgrade under OLM v1 for an extension that selects no channel. */
  readonly open: OpenStop;
}

interface OpenStop {
  /** Name of the next bundle. */
  readonly next?: string;
  /** Why there is no upgrade. */
  readonly why?: string;
  readonly arrives: boolean;
}

/** The graphs of several catalogs. */
export function graphDocument(worlds: readonly World[]): GraphDocument {
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'UpgradeGraph',
    catalogs: worlds.map((world) => ({
      name: world.name,
      packages: [...checkedPackages(world)]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((ofPackage) => packageGraph(world, ofPackage)),
    })),
  };
}

/** The graph of one package. */
function packageGraph(world: World, ofPackage: Package): PackageGraph {
  const { name, defaultChannel, deprecation, deprecatedChannels, bundles } = ofPackage;
  const { lanes } = hopGraph(world, ofPackage);
  return {
    package: name,
    defaultChannel,
    ...(deprecation === undefined ? {} : { deprecated: deprecation }),
    lanes: [...lanes].sort((a, b) => Number(b.isDefault) - Number(a.isDefault)),
    deprecatedChannels: Object.fromEntries(deprecatedChannels),
    bundles: [...bundles.values()].map((bundle) => {
      const deprecated = ofPackage.deprecatedBundles.get(bundle.name);
      return {
        name: bundle.name,
        version: bundle.version ? formatVersion(bundle.version) : '',
        ...(deprecated === undefined ? {} : { deprecated }),
        open: openStop(world, name, bundle),
      };
    }),
  };
}

function openStop({ foresight }: World, name: string, bundle: Parameters<typeof installedOf>[0]): OpenStop {
  const { next, arrives } = foresight.v1({ package: name, channels: [] }, installedOf(bundle));
  const to = upgradeOf(next)?.to.name;
  const why = reasonOf(next)?.text;
  return { ...(to === undefined ? {} : { next: to }), ...(why === undefined ? {} : { why }), arrives };
}

// Reads upgrade paths from the graph document, for the page.

export interface DocumentPath {
  /** Names of the bundles, the next one first. */
  readonly steps: readonly string[];
  readonly arrives: boolean;
  /** Why it goes no further; `circle` where the last step leads back to an earlier one. */
  readonly why: string;
}

/** The upgrade path of a bundle in a channel; under OLM v1 an empty channel means that none is selected. */
export function documentPath(
  graph: PackageGraph,
  olm: Olm,
  from: { channel: string; bundle: string },
): DocumentPath {
  const stop = stopReader(graph, olm, from.channel);
  const steps: string[] = [];
  const seen = new Set([from.bundle]);
  for (let at = from.bundle; ; ) {
    const { next, arrives, why } = stop(at);
    if (next === undefined) return { steps, arrives, why };
    steps.push(next);
    if (seen.has(next)) return { steps, arrives: false, why: 'circle' };
    seen.add(next);
    at = next;
  }
}

interface ReadStop {
  readonly next: string | undefined;
  readonly arrives: boolean;
  readonly why: string;
}

const NOWHERE: ReadStop = { next: undefined, arrives: false, why: 'it is not in this channel' };

/** Without a channel, OLM v1 chooses among all of them: that path is noted with the bundle, not in a lane. */
function stopReader(graph: PackageGraph, olm: Olm, channel: string): (bundle: string) => ReadStop {
  if (olm === 'v1' && channel === '') {
    const notes = new Map(graph.bundles.map(({ name, open }) => [name, open]));
    return (bundle) => {
      const open = notes.get(bundle);
      return open ? { next: open.next, arrives: open.arrives, why: open.why ?? '' } : NOWHERE;
    };
  }
  const lane = graph.lanes.find((one) => one.channel === channel);
  const stops = new Map(lane?.stops.map((stop) => [stop.bundle, stop]));
  return (bundle) => {
    const stop = stops.get(bundle);
    if (!stop) return NOWHERE;
    const next = stop.hops.find((hop) => hop.olm.includes(olm))?.to;
    return { next, arrives: !stop.stuck.includes(olm), why: stop.why[olm] ?? '' };
  };
}
