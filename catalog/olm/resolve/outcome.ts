/**
 * The next step of a cluster for an installation.
 */

import type { EdgeField } from '../../fbc/edge.ts';
import type { Version } from '../../version/version.ts';

export type Outcome = Upgrade | Stays | Fails;

/** The bundle that is installed next; its version may be lower than the installed one. */
export interface Upgrade {
  readonly kind: 'upgrade';
  readonly to: Target;
  /**
   * What leads there: a field of the target's entry, or `version` where OLM v1 takes a
   * bundle of another name but the same version for the installed one, or `none` for a
   * first installation and where edges are not asked for.
   */
  readonly edge: EdgeField | 'version' | 'none';
}

export interface Target {
  readonly name: string;
  readonly version: Version | undefined;
  /** The channel that OLM v0 takes it from; empty under OLM v1. */
  readonly channel: string;
}

/** An outcome that names the catalog of the next bundle, for installations that may get it from several. */
export type PlacedOutcome = PlacedUpgrade | Stays | Fails;

export interface PlacedUpgrade extends Upgrade {
  readonly to: PlacedTarget;
}

export interface PlacedTarget extends Target {
  readonly catalog: string;
}

/** The outcome in a catalog. */
export function placedIn(catalog: string, outcome: Outcome): PlacedOutcome {
  if (outcome.kind !== 'upgrade') return outcome;
  const { name, version, channel } = outcome.to;
  return { ...outcome, to: { name, version, catalog, channel } };
}

/** The installation is kept, and nothing complains. */
export interface Stays {
  readonly kind: 'stays';
  readonly reason: Reason;
}

/**
 * An installation that is kept. Most callers only need to know that it stays, so the reason is found
 * when somebody asks, once: many upgrade paths share it.
 */
export function staysBecause(find: () => Reason): Stays {
  let found: Reason | undefined;
  return {
    kind: 'stays',
    get reason() {
      found ??= find();
      return found;
    },
  };
}

/** OLM does nothing and reports an error, again and again. */
export interface Fails {
  readonly kind: 'fails';
  readonly reason: Reason;
}

export interface Reason {
  readonly code: ReasonCode;
  /** For people; where OLM has a message for it, OLM's. */
  readonly text: string;
  /** Name of the bundle that OLM v1 had chosen and then refused, or whose requirements OLM v0 cannot read. */
  readonly bundle?: string;
}

export type ReasonCode =
  /** The installation stays: the channel, or the package, has nothing newer for it. */
  | 'newest'
  /** Stays: no entry follows it. */
  | 'no-edge'
  /** Stays under OLM v1: what follows it is outside of the version range of the extension. */
  | 'outside-range'
  /** Stays: the entry that follows it has no bundle. */
  | 'successor-missing'
  /** Stays under OLM v0: what follows it is itself skipped, so it is never offered. */
  | 'successor-skipped'
  /** Stays under OLM v0: what follows it needs something that is not to be had, or is prohibited. */
  | 'successor-blocked'
  /** Stays under OLM v1: all that follows it has a lower version. */
  | 'successor-lower'
  /** Stays under OLM v1: all that follows it is deprecated. */
  | 'successor-deprecated'
  /** Fails: a catalog of the cluster does not answer. */
  | 'not-serving'
  /** Fails under OLM v0: the catalog, package, channel or bundle that a subscription names is not there. */
  | 'missing'
  /** Fails under OLM v0: a channel has no head, several, or a circle. */
  | 'no-order'
  /** Fails: dependencies cannot be met, or exclude each other. */
  | 'unsatisfiable'
  /** Fails under OLM v0: a dependency cannot be read. */
  | 'bad-dependency'
  /** Fails under OLM v1: no bundle is left to choose from. */
  | 'no-bundle'
  /** Fails under OLM v1: several catalogs of the same priority have the package. */
  | 'ambiguous'
  /** Fails under OLM v1: the chosen bundle has dependencies, which OLM v1 does not support. */
  | 'dependency'
  /** Fails under OLM v1: the wanted range, or a version, cannot be read. */
  | 'bad-version';

/** The upgrade, where there is one. */
export function upgradeOf(outcome: Outcome): Upgrade | undefined {
  return outcome.kind === 'upgrade' ? outcome : undefined;
}

/** Why nothing happens, or undefined where something does. */
export function reasonOf(outcome: Outcome): Reason | undefined {
  return outcome.kind === 'upgrade' ? undefined : outcome.reason;
}
