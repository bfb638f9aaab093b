/** Reads a cluster's operators from a must-gather: a folder with the cluster's objects as YAML, usually one in each file. */
import { join } from 'node:path';
import { readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { FleetInstallation } from '../../../catalog/olm/fleet/fleet.ts';
import { readFolder } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { textAt } from '../cluster.ts';
import { readFleet } from '../fleet/read-fleet.ts';

/** Folders and files with the objects that matter, whatever is above them. */
const WANTED =
  /(?:^|\/)(?:operators\.coreos\.com\/(?:subscriptions|clusterserviceversions)|olm\.operatorframework\.io\/clusterextensions|config\.openshift\.io\/clusterversions)(?:\/[^/]+)?\.(?:ya?ml|json)$/;

/** OLM copies each ClusterServiceVersion into every namespace, so a must-gather of a large cluster has thousands of files. */
const LIMITS = { mostFiles: 20_000, mostBytes: 512 * 1024 * 1024 };

/**
 * The installed operators in a must-gather.
 *
 * @throws PipelineError `usage` for a folder without such objects, `too-large`, `io`
 */
export async function mustGatherInstallations(folder: string): Promise<FleetInstallation[]> {
  const items: unknown[] = [];
  const isWanted = (path: string): boolean => WANTED.test(path);
  for await (const { path, bytes } of readFolder(folder, { isWanted, ...LIMITS }))
    items.push(...objectsIn(join(folder, path), bytes));
  const platform = items.find((item) => isObject(item) && item['kind'] === 'ClusterVersion');
  const minor = /^\d+\.\d+/.exec(textAt(platform, 'status', 'desired', 'version'))?.[0] ?? '';
  const { fleet } = readFleet([{ path: folder, text: JSON.stringify({ kind: 'List', items }) }]);
  return fleet.rows.map(({ installation }) => ({ ...installation, platform: minor }));
}

/** The objects in a file. @throws PipelineError `usage` if one cannot be read: an operator would be missing */
function objectsIn(path: string, bytes: Uint8Array): unknown[] {
  // A list of all objects of a cluster is larger than any of them.
  return readManifestFile(path, bytes, LIMITS.mostBytes).documents.map((document) => {
    if (document.kind === 'value') return document.value;
    throw new PipelineError('usage', `${path}: ${document.message}`);
  });
}
