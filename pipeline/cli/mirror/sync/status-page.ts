/** The page of a mirror: what it has and since when, what failed, and which upgrades clusters get from it. */
import { basename, dirname, resolve } from 'node:path';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import type { Finding } from '../../../../catalog/finding.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { type GraphDocument, graphDocument } from '../../../../catalog/olm/graph/graph-document.ts';
import type { OpenCatalog } from '../../../catalogs/source/open.ts';
import type { MirrorOutcome } from '../../../mirror/prepare.ts';
import { pageWorld } from '../../../publish/page.ts';
import { pageText } from '../../../report/page/page.ts';
import type { Terminal } from '../../../terminal.ts';
import { writeFiles } from '../../../write.ts';
import type { Invocation } from '../../command.ts';

/** The upgrade graphs of what is selected, while the catalogs are open; none where no page is asked for. */
export async function mirroredGraph(
  { selections, report }: MirrorOutcome,
  catalogs: readonly OpenCatalog[],
  { text }: Invocation,
): Promise<GraphDocument | undefined> {
  if (text('status-page') === undefined) return undefined;
  const worlds = [];
  for (const [i, { source, name }] of catalogs.entries()) {
    const blobs = selections[i];
    const title = report.catalogs[i]?.reference ?? name;
    // What a whole catalog gives is not in memory: it is read once more.
    worlds.push(
      blobs ? await worldOf({ name: title, catalog: catalogOf(blobs) }) : await pageWorld(title, source),
    );
  }
  return graphDocument(worlds);
}

/** What a page shows of a sync. */
interface ShownSync {
  readonly to: string;
  readonly graph: GraphDocument;
  /** The lines of its report. */
  readonly lines: readonly string[];
  /** What is wrong with the configuration, and the images that failed. */
  readonly findings: readonly Finding[];
}

/** Writes the HTML page of a mirror's status to a file. */
export function writeStatusPage(
  file: string,
  { to, graph, lines, findings }: ShownSync,
  { directory, now }: Pick<Terminal, 'directory' | 'now'>,
): void {
  const [headline = '', ...more] = lines;
  const page = pageText({
    title: `Mirror ${to}`,
    // To the minute, as `2026-01-31 02:17 UTC`.
    headline: `${now().toISOString().slice(0, 16).replace('T', ' ')} UTC: ${headline}`,
    asked: more.map((line) => line.trim()),
    summary: [],
    findings,
    graph,
  });
  const path = resolve(directory, file);
  writeFiles(dirname(path), new Map([[basename(path), page]]));
}
