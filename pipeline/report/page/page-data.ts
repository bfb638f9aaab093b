import type { Finding } from '../../../catalog/finding.ts';
import type { FleetReport } from '../../../catalog/olm/fleet/count.ts';
import type { GraphDocument } from '../../../catalog/olm/graph/graph-document.ts';

/** The data of a page. */
export interface PageData {
  readonly title: string;
  /** Shown above the findings; empty if there are none. */
  readonly headline: string;
  /** More lines above the findings: a cluster, past merges, or the published image. */
  readonly asked: readonly string[];
  /** Sentences below the findings. */
  readonly summary: readonly string[];
  /** Most serious first; none for a page of upgrade graphs only. */
  readonly findings: readonly Finding[];
  /** The page of each rule that has findings and a page. */
  readonly rulePages?: Readonly<Record<string, string>>;
  readonly graph: GraphDocument;
  /** The clusters of a fleet, where one is known. */
  readonly fleet?: FleetReport;
}
