/** Plans what an ImageSetConfiguration selects, and builds the index images of its selections. */
import { resolve } from 'node:path';
import type { Finding } from '../../../../catalog/finding.ts';
import { takesAll } from '../../../../catalog/mirror/select/image-set-filter.ts';
import type { GraphDocument } from '../../../../catalog/olm/graph/graph-document.ts';
import { type MirrorOutcome, prepareImageSet } from '../../../mirror/prepare.ts';
import type { Terminal } from '../../../terminal.ts';
import { type Command, type Invocation, usageError } from '../../command.ts';
import { buildSelection } from '../../publish/build-selection.ts';
import { selectedCatalogs, withDeployments } from '../deployed-images.ts';
import { catalogSourceTemplates, openImageSet, writeCharts } from '../image-set.ts';
import { documentOptions, namingOptions } from '../plan/plan-options.ts';
import { mirroredGraph } from './status-page.ts';

/** One run of the command. */
export interface SyncRun {
  readonly command: Command;
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/** Whether an error is about more than single images, charts or releases. */
export function isOfWhole({ rule }: Finding): boolean {
  return rule !== 'mirror/reference' && rule !== 'mirror/chart' && rule !== 'mirror/release';
}

/** What a sync is to do. */
export interface Planned {
  readonly outcome: MirrorOutcome;
  readonly errors: readonly Finding[];
  readonly options: ReturnType<typeof documentOptions>;
  /** Bytes of each file of an archive, where the configuration says so. */
  readonly part: number | undefined;
  /** Absent where no page is asked for. */
  readonly graph?: GraphDocument | undefined;
}

/** Plans what the configuration selects, with an index image built for each catalog that is selected in part. */
export async function planSync({ command, invocation, terminal }: SyncRun): Promise<Planned> {
  const [file = ''] = invocation.operands;
  const { imageSet, catalogs, groups, documents, fetched, close } = await openImageSet(
    file,
    invocation,
    terminal,
  );
  try {
    if (imageSet.deletes)
      throw usageError(command, 'a DeleteImageSetConfiguration is for mirror plan and mirror prune');
    const builds = imageSet.catalogs.some((selection) => !takesAll(selection));
    const { directory } = terminal;
    const options = {
      ...documentOptions(command, invocation, { directory, builds }),
      templates: catalogSourceTemplates(imageSet, directory),
      ...documents,
    };
    const request = {
      imageSet,
      catalogs: selectedCatalogs(catalogs, invocation, terminal),
      charts: groups,
      ...namingOptions(command, invocation),
      documents: options,
    };
    const { catalogs: known, outcome: first } = await withDeployments(
      request.catalogs,
      (some) => prepareImageSet({ ...request, catalogs: some }),
      { invocation, terminal },
    );
    const errors = first.findings.filter(({ severity }) => severity === 'error');
    // oc-mirror's `archiveSize` is in GiB.
    const part = imageSet.archiveSize === undefined ? undefined : imageSet.archiveSize * 2 ** 30;
    // A catalog that cannot be read whole has images that nobody knows of: then nothing is written or built.
    const isLost = errors.some(isOfWhole);
    if (!isLost) writeCharts(resolve(directory, folderOf(invocation)), { fetched });
    const graph = isLost ? undefined : await mirroredGraph(first, catalogs, invocation);
    if (!builds || isLost) return { outcome: first, errors, options, part, graph };
    const built = await withBuiltIndexes(known, first, { invocation, terminal });
    return { outcome: await prepareImageSet({ ...request, catalogs: built }), errors, options, part, graph };
  } finally {
    await close();
  }
}

type PlannedCatalog = Parameters<typeof prepareImageSet>[0]['catalogs'][number];

/**
 * The catalogs, with an index image built for each that is selected in part.
 *
 * @param catalogs in the order of the outcome's selections, of which that of a whole catalog is undefined
 */
async function withBuiltIndexes(
  catalogs: readonly PlannedCatalog[],
  { selections }: MirrorOutcome,
  { invocation, terminal }: Omit<SyncRun, 'command'>,
): Promise<PlannedCatalog[]> {
  const built: PlannedCatalog[] = [];
  for (const [i, catalog] of catalogs.entries()) {
    const blobs = selections[i];
    const place = `oci:${folderOf(invocation)}/index-images/${i + 1}`;
    // Whether the old image has a server says nothing of the one that is built here.
    built.push(
      blobs
        ? {
            ...catalog,
            ...(await buildSelection(blobs, place, { invocation, terminal })),
            serverless: undefined,
          }
        : catalog,
    );
  }
  return built;
}

/** The directory for the files and the state, as it is given. */
export function folderOf({ text }: Invocation): string {
  return text('out') ?? 'mirror';
}
