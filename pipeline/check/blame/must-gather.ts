/** Reads a cluster's operators from a must-gather: a folder with the cluster's objects as YAML, usually one in each file. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import type { FleetInstallation } from '../../../catalog/olm/fleet/fleet.ts';
import { fileError, readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { textAt } from '../cluster.ts';
import { readFleet } from '../fleet/read-fleet.ts';

/** Folders and files with the objects that matter, whatever is above them. */
const WANTED =
  /(?:^|\/)(?:operators\.coreos\.com\/(?:subscriptions|clusterserviceversions)|olm\.operatorframework\.io\/clusterextensions|config\.openshift\.io\/clusterversions)(?:\/[^/]+)?\.(?:ya?ml|json)$/;

/** Largest number of files: OLM copies each ClusterServiceVersion into every namespace. */
const MOST_FILES = 20_000;

/**
 * The installed operators in a must-gather.
 *
 * @throws PipelineError `usage` for a folder without such objects, `too-large`
 */
export function mustGatherInstallations(folder: string): FleetInstallation[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => WANTED.test(path))
    .sort();
  if (paths.length > MOST_FILES)
    throw new PipelineError('too-large', `${folder} has more than ${MOST_FILES} files about operators`);
  const items = paths.flatMap((path) => objectsIn(join(folder, path)));
  const platform = items.filter((item) => isObject(item) && item['kind'] === 'ClusterVersion').at(0);
  const minor = /^\d+\.\d+/.exec(textAt(platform, 'status', 'desired', 'version'))?.[0] ?? '';
  const { fleet } = readFleet([{ path: folder, text: JSON.stringify({ kind: 'List', items }) }]);
  return fleet.rows.map(({ installation }) => ({ ...installation, platform: minor }));
}

function objectsIn(path: string): unknown[] {
  return readManifestFile(path, bytesOf(path)).documents.map((document) => {
    if (document.kind === 'value') return document.value;
    throw new PipelineError('usage', `${path}: ${document.message}`);
  });
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileBytes(path);
  } catch (error) {
    throw fileError(error, path);
  }
}
