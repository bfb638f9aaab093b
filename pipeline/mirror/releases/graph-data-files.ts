/** Graph data: the public repository's files, from a directory, an archive or a web server. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkGraphData,
  GraphDataError,
  type GraphDataFiles,
  isGraphData,
} from '../../../catalog/mirror/release/update-graph.ts';
import { directorySource, fileError, isDirectory, readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readTree } from '../../oci/image/tree.ts';
import type { RepositoryPorts } from '../charts/repository.ts';

/** Where update services get graph data. */
export const GRAPH_DATA = 'https://api.openshift.com/api/upgrades_info/graph-data';

/** Bytes of an archive at most; that of 2026 has less than 1 MB. */
const LARGEST = 64 * 2 ** 20;
const LIMITS = { bytes: 512 * 2 ** 20, layerBytes: 512 * 2 ** 20, fileBytes: 16 * 2 ** 20, entries: 100_000 };

/**
 * @param path a directory, an archive (`.tar`, `.tar.gz`), or a URL of an archive
 * @throws PipelineError `usage` for what is not graph data, `not-found`, `too-large`, and as the download
 */
export async function readGraphData(
  path: string,
  { download }: Pick<RepositoryPorts, 'download'>,
): Promise<GraphDataFiles> {
  const files = isDirectory(path) ? await filesIn(path) : await filesOf(await archiveAt(path, download));
  try {
    checkGraphData(files);
  } catch (error) {
    throw graphDataError(error, path);
  }
  return files;
}

/** Errors in graph data as errors of usage. */
export function graphDataError(error: unknown, place: string): unknown {
  if (!(error instanceof GraphDataError)) return error;
  return new PipelineError('usage', `${place}: ${error.message}`, { cause: error });
}

async function archiveAt(place: string, download: RepositoryPorts['download']): Promise<Uint8Array> {
  if (/^https?:\/\//.test(place)) return download(new URL(place), `the graph data at ${place}`, LARGEST);
  if (sizeOf(place) > LARGEST) throw new PipelineError('too-large', `${place} is larger than 64 MiB`);
  return readFileBytes(place);
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    throw fileError(error, path);
  }
}

async function filesIn(place: string): Promise<GraphDataFiles> {
  const files = new Map<string, string>();
  for (const file of await directorySource(place).files()) {
    if (!isGraphData(file.path)) continue;
    if (file.unreadable !== undefined)
      throw new PipelineError('usage', `${place}/${file.path}: ${file.unreadable}`);
    files.set(file.path, new TextDecoder().decode(await file.read()));
  }
  return files;
}

/** The files of an archive, also of one with a folder around them. */
async function filesOf(archive: Uint8Array): Promise<GraphDataFiles> {
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-graph-data-'));
  try {
    const inner = (path: string): string => (isGraphData(path) ? path : path.slice(path.indexOf('/') + 1));
    const tree = await readTree([only(archive)], {
      scratch,
      limits: LIMITS,
      wanted: (path) => isGraphData(inner(path)),
    });
    try {
      return new Map(
        [...tree.entries].flatMap(([path, entry]) =>
          entry.kind === 'file' && isGraphData(inner(path))
            ? [[inner(path), new TextDecoder().decode(tree.read(entry))] as const]
            : [],
        ),
      );
    } finally {
      tree.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
