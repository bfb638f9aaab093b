/** The image of the update graph that an ImageSetConfiguration asks for: built, and put beside the plan. */
import { join, resolve } from 'node:path';
import type { AdditionalImage } from '../../../catalog/mirror/plan-request.ts';
import type { PlatformSelection } from '../../../catalog/mirror/release/release-selection.ts';
import type { RepositoryPorts } from '../../mirror/charts/repository.ts';
import { GRAPH_DATA, readGraphData } from '../../mirror/releases/graph-data-files.ts';
import { GRAPH_BASE, GRAPH_IMAGE, graphImage } from '../../mirror/releases/graph-image.ts';
import { isGraphDataPlace } from '../../mirror/releases/update-graphs.ts';
import { locationFrom, parseLocation } from '../../oci/registry/image-location.ts';
import { openBase } from '../../publish/base.ts';
import { sendCatalogImages } from '../../publish/push.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { isUrl } from './release-places.ts';

/** The image as it is to be mirrored, and as clusters are told of it. */
export interface BuiltGraph {
  readonly image: AdditionalImage;
  readonly digest: string;
}

/** Builds the image. @throws PipelineError as the download of graph data, the base image and the build */
export async function buildGraph(
  { architectures, platforms }: PlatformSelection,
  download: RepositoryPorts['download'],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<BuiltGraph> {
  const { directory } = terminal;
  const files = await readGraphData(dataPlace(invocation, directory), { download });
  const baseName = invocation.text('graph-base-image') ?? GRAPH_BASE;
  const client = registryClientFor(invocation, terminal, { named: [baseName] });
  try {
    const base = await openBase(client, parseLocation(baseName));
    const wanted = platforms?.map((platform) => platform.split('/')[1] ?? '') ?? architectures;
    const image = graphImage(files, base.image, wanted);
    const place = locationFrom(directory, parseLocation(`oci:${join(folderOf(invocation), FOLDER)}`));
    await (await sendCatalogImages(client, [{ image, place, base, untagged: false }])).tag();
    return {
      image: { reference: GRAPH_IMAGE, from: `oci://${resolve(directory, folderOf(invocation), FOLDER)}` },
      digest: image.manifestList.digest,
    };
  } finally {
    client.close();
  }
}

/** In the directory of the plan. */
const FOLDER = 'graph-image';

function folderOf({ text }: Invocation): string {
  return text('out') ?? 'mirror';
}

/** Graph data as it was named; that of `--update-graph` if it is one. */
function dataPlace({ text }: Invocation, directory: string): string {
  const named = text('graph-data');
  if (named !== undefined) return isUrl(named) ? named : resolve(directory, named);
  const graphs = text('update-graph');
  if (graphs === undefined || isUrl(graphs)) return GRAPH_DATA;
  const path = resolve(directory, graphs);
  return isGraphDataPlace(path) ? path : GRAPH_DATA;
}
