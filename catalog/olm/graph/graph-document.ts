/**
 * The graphs of catalogs as a document for machines and for the page: what each resolver
 * will really do from every bundle, with the reasons where it does nothing.
 */

import { installedOf } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { formatVersion } from '../../version/version.ts';
import { checkedPackages, type World } from '../foresight/world.ts';
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

/** The upgrade graph of one package as the report's page draws it. */
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

/** The next upgrade of an extension that selects no channel. */
function openStop({ foresight }: World, name: string, bundle: Parameters<typeof installedOf>[0]): OpenStop {
  const { next, arrives } = foresight.v1({ package: name, channels: [] }, installedOf(bundle));
  const to = upgradeOf(next)?.to.name;
  const why = reasonOf(next)?.text;
  return { ...(to === undefined ? {} : { next: to }), ...(why === undefined ? {} : { why }), arrives };
}
