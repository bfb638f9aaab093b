/** A cluster that is to get to a later version of its platform, and the catalogs that it may use on the way. */
import type { Installed } from '../../fbc/edge.ts';
import type { Catalog } from '../../fbc/model.ts';
import type { Minor } from '../../fbc/openshift.ts';
import type { Olm } from '../../olm/foresight/world.ts';
import type { Version } from '../../version/version.ts';

/** What a Subscription or a ClusterExtension has installed. */
export interface ClusterOperator {
  readonly olm: Olm;
  readonly package: string;
  /** Under OLM v0 one or none; none for the default channel, or for all channels under OLM v1. */
  readonly channels: readonly string[];
  /** The range of versions that a ClusterExtension asks for, or empty. */
  readonly range: string;
  readonly installed: Installed;
  /** Namespace of the Subscription, in which OLM v0 resolves all of them together; empty where it is unknown. */
  readonly namespace: string;
  /** Name of the Subscription or the ClusterExtension. */
  readonly name: string;
  /** Whether somebody must approve each upgrade. */
  readonly isManual: boolean;
}

export interface UpgradingCluster {
  readonly name: string;
  /** The version of the platform. */
  readonly platform: Version;
  readonly operators: readonly ClusterOperator[];
}

/** A catalog for one version of the platform. */
export interface PlatformCatalog {
  /** Unique among all of them. */
  readonly name: string;
  readonly platform: Minor;
  /** Reference of its index image. */
  readonly reference: string;
  readonly catalog: Catalog;
}

/** Why there is no plan; the message names what is in the way. */
export class UpgradeRefusal extends Error {
  /** Set where something is not known, and not where it is known to be in the way. */
  readonly isUnknown: boolean;

  constructor(message: string, isUnknown = false) {
    super(message);
    this.isUnknown = isUnknown;
  }
}
