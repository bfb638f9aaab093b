/** The releases of an ImageSetConfiguration as a command line reads them, and the image of their update graph. */
import { join, resolve } from 'node:path';
import type { DocumentOptions } from '../../../catalog/mirror/documents/documents.ts';
import type { AdditionalImage } from '../../../catalog/mirror/plan-request.ts';
import type { PlatformSelection } from '../../../catalog/mirror/release/release-selection.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { RepositoryPorts } from '../../mirror/charts/repository.ts';
import type { ReadCharts } from '../../mirror/prepare.ts';
import {
  GRAPH_BASE,
  GRAPH_DATA,
  GRAPH_IMAGE,
  graphImage,
  readGraphData,
} from '../../mirror/releases/graph-data-files.ts';
import { type Keyring, OpenPgpError, readKeyring } from '../../mirror/releases/openpgp.ts';
import { readReleases, releaseFinding } from '../../mirror/releases/read-release.ts';
import { RED_HAT_KEYS } from '../../mirror/releases/red-hat-key.ts';
import { RED_HAT_SIGNATURES } from '../../mirror/releases/signatures.ts';
import { isGraphDataPlace } from '../../mirror/releases/update-graphs.ts';
import { locationFrom, parseLocation } from '../../oci/registry/image-location.ts';
import { openBase } from '../../publish/base.ts';
import { sendCatalogImages } from '../../publish/push.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { isUrl, releasePlaces } from './release-places.ts';

/** What came of the releases of a configuration. */
export interface PlatformOutcome extends ReadCharts {
  /** What clusters are told of them. */
  readonly documents: Pick<DocumentOptions, 'releaseSignatures' | 'updateGraph'>;
}

interface CommandContext {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/**
 * Reads the payloads of releases and their signatures, and builds the image of the update graph.
 *
 * @param deletes whether all of it is to be deleted from a mirror: nothing is built then
 * @throws PipelineError `usage` for options that cannot be followed
 */
export async function readPlatform(
  platform: PlatformSelection,
  deletes: boolean,
  { invocation, terminal }: CommandContext,
): Promise<PlatformOutcome> {
  const { directory } = terminal;
  const written = invocation.text('release-signatures') ?? RED_HAT_SIGNATURES;
  const keys = keysOf(invocation, directory);
  const { close, ...places } = releasePlaces(invocation, terminal, {
    urls: [written, invocation.text('graph-data')],
    images: [platform.release?.reference],
  });
  const { download } = places;
  const place = isUrl(written) ? written : resolve(directory, written);
  try {
    const { signatures, ...releases } = await readReleases(platform, {
      ...places,
      signatures:
        written === 'none' || deletes ? undefined : { place, keys, download, now: terminal.now().getTime() },
    });
    const graph = platform.hasGraph
      ? await graphOf(platform, deletes, { download, invocation, terminal })
      : undefined;
    // The update service takes the name of its repository from any one payload.
    const [payload] = releases.groups.flatMap(({ references }) => references.slice(0, 1));
    return {
      groups: releases.groups,
      findings: [...releases.findings, ...(graph?.findings ?? [])],
      images: graph?.images ?? [],
      documents: {
        releaseSignatures: signatures,
        updateGraph:
          graph?.digest === undefined ? undefined : { reference: GRAPH_IMAGE, digest: graph.digest, payload },
      },
    };
  } finally {
    close();
  }
}

type GraphOutcome = Pick<Required<ReadCharts>, 'findings' | 'images'> & { readonly digest?: string };

/** Builds the update graph's image. A problem with it is a finding, and does not stop the releases. */
async function graphOf(
  platform: PlatformSelection,
  deletes: boolean,
  { download, ...asked }: CommandContext & { readonly download: RepositoryPorts['download'] },
): Promise<GraphOutcome> {
  // A list to delete only names the image: for that it is not built.
  if (deletes) return { findings: [], images: [{ reference: GRAPH_IMAGE, from: `oci://${GRAPH_IMAGE}` }] };
  try {
    const { image, digest }: BuiltGraph = await buildGraph(platform, download, asked);
    return { findings: [], images: [image], digest };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return {
      findings: [releaseFinding(platform.location, error, 'the image of the update graph: ')],
      images: [],
    };
  }
}

/** The keys that sign releases. @throws PipelineError `usage` for a file that is not OpenPGP */
function keysOf({ text }: Invocation, directory: string): Keyring {
  const file = text('release-key');
  if (file === undefined) return readKeyring(Buffer.from(RED_HAT_KEYS));
  try {
    return readKeyring(readFileBytes(resolve(directory, file)));
  } catch (error) {
    if (!(error instanceof OpenPgpError)) throw error;
    throw new PipelineError('usage', `--release-key: ${file} ${error.message}`, { cause: error });
  }
}

// The image of the update graph that an ImageSetConfiguration asks for: built, and put beside the plan.

/** The image as it is to be mirrored, and as clusters are told of it. */
interface BuiltGraph {
  readonly image: AdditionalImage;
  readonly digest: string;
}

/** Builds the image. @throws PipelineError as the download of graph data, the base image and the build */
async function buildGraph(
  { architectures, platforms }: PlatformSelection,
  download: RepositoryPorts['download'],
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<BuiltGraph> {
  const { directory } = terminal;
  const files = await readGraphData(dataPlace(invocation, directory), { download });
  const baseName = invocation.text('graph-base-image') ?? GRAPH_BASE;
  return withRegistryClient(invocation, terminal, { named: [baseName] }, async (client) => {
    const base = await openBase(client, parseLocation(baseName));
    // The architectures of `os/architecture`, where the configuration selects platforms.
    const wanted = platforms?.map((platform) => platform.split('/')[1] ?? '') ?? architectures;
    const image = await graphImage(files, base.image, wanted);
    const place = locationFrom(directory, parseLocation(`oci:${join(folderOf(invocation), FOLDER)}`));
    await (await sendCatalogImages(client, [{ image, place, base, untagged: false }])).tag();
    return {
      image: { reference: GRAPH_IMAGE, from: `oci://${resolve(directory, folderOf(invocation), FOLDER)}` },
      digest: image.manifestList.digest,
    };
  });
}

/** Where the built image is, in the directory of the plan. */
const FOLDER = 'graph-image';

/** The directory of the plan, as it is given. */
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
