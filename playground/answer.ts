/** What the page asks its worker, and what that answers: plain data, without anything that needs a browser. */
import type { Finding } from '../catalog/finding.ts';
import type { GraphDocument } from '../catalog/olm/graph/graph-document.ts';
import type { HopGraph } from '../catalog/olm/graph/hop-graph.ts';

/** Contents by path. */
export type Texts = Readonly<Record<string, string>>;

export interface Question {
  /** Of the catalog; if it is a version of OpenShift, such as `v4.20`, it counts as one. */
  readonly name: string;
  readonly files: Texts;
  /** The catalog before the edit. */
  readonly before?: Texts;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** The reference of the index image. */
  readonly image: string;
  /** Registry and path of the mirror. */
  readonly mirrorTo: string;
}

export interface Answer {
  readonly kind: 'catalog' | 'bundle';
  readonly headline: string;
  readonly summary: readonly string[];
  /** The worst first. */
  readonly findings: readonly Finding[];
  readonly graph: GraphDocument;
  /** What the edit changes for installed versions; undefined without a catalog before it. */
  readonly impact?: readonly string[];
  /** The upgrades of each package that the edit changes, before and after it. */
  readonly changes?: Readonly<Record<string, HopGraph>>;
  readonly mirror?: Mirror;
}

export interface Mirror {
  readonly lines: readonly string[];
  /** Whether clusters can install every bundle from it. */
  readonly ready: boolean;
  readonly files: Texts;
}

/** What the worker says: an answer, or why there is none. */
export type Reply = { readonly answer: Answer } | { readonly error: string };
