import type { Finding } from '../../../catalog/finding.ts';
import type { GraphDocument } from '../../../catalog/olm/graph/graph-document.ts';

/** What a page knows. */
export interface PageData {
  readonly title: string;
  /** Stands above the findings; empty without any. */
  readonly headline: string;
  /** Lines about what else was asked, which stand above the findings. */
  readonly asked: readonly string[];
  /** Sentences that stand below the findings. */
  readonly summary: readonly string[];
  /** The worst first; none for a page of graphs alone. */
  readonly findings: readonly Finding[];
  readonly graph: GraphDocument;
}
