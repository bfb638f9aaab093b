/** Reads a cluster's operators from a must-gather: a folder with the cluster's objects as YAML, usually one in each file. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, loadAll } from 'js-yaml';
import { isObject } from '../../../catalog/go/shape.ts';
import type { FleetInstallation } from '../../../catalog/olm/fleet/fleet.ts';
import { readText } from '../../directory.ts';
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
  try {
    return loadAll(readText(path), { schema: CORE_SCHEMA });
  } catch (cause) {
    if (cause instanceof PipelineError) throw cause;
    throw new PipelineError('usage', `${path} is not valid YAML`, { cause });
  }
}
