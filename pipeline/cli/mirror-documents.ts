/** Files that say where nodes look for images: the mirror documents of a cluster, and registries.conf. */
import { join, resolve } from 'node:path';
import { type NodeConfig, nodeConfig } from '../../catalog/mirror/node/node.ts';
import {
  InvalidRegistriesConf,
  type RegistriesConf,
  readRegistriesConf,
} from '../../catalog/mirror/node/registries-conf.ts';
import { mirrorKinds, mirrorRules, readObjects } from '../../catalog/mirror/read.ts';
import { entriesIn, isFolder, readText } from '../directory.ts';
import { PipelineError } from '../error.ts';
import type { Invocation } from './command.ts';

/**
 * Where `--idms` and `--registries-conf` say that images are; undefined where neither is given.
 *
 * @throws PipelineError `usage` for a file that cannot be read as a whole or says nothing, `not-found`, `io`
 */
export function mirrorsFor(
  { list, text }: Pick<Invocation, 'list' | 'text'>,
  directory: string,
): NodeConfig | undefined {
  const documents = list('idms');
  const file = text('registries-conf');
  if (documents.length === 0 && file === undefined) return undefined;
  const base = file === undefined ? undefined : registriesIn(resolve(directory, file), file);
  const objects = documents.flatMap((path) => objectsIn(resolve(directory, path), path));
  const { rules, findings } = mirrorRules(objects);
  const [wrong] = findings;
  if (wrong)
    throw new PipelineError('usage', `${wrong.location.file}:${wrong.location.line}: ${wrong.message}`);
  const config = nodeConfig(rules, base);
  if (config.refused !== undefined)
    throw new PipelineError('usage', `nodes refuse the mirrors: ${config.refused}`);
  return config;
}

/**
 * The objects in a file or folder.
 *
 * @throws PipelineError `usage` for one that is not valid, or where no object has mirrors
 */
function objectsIn(path: string, written: string): ReturnType<typeof readObjects>['objects'] {
  const read = documentFiles(path).map((file) => readObjects(readText(file), file));
  const [wrong] = read.flatMap(({ findings }) => findings);
  if (wrong)
    throw new PipelineError('usage', `${wrong.location.file}:${wrong.location.line}: ${wrong.message}`);
  const objects = read.flatMap((one) => one.objects);
  if (mirrorKinds(objects).size > 0) return objects;
  throw new PipelineError(
    'usage',
    `${written} has no ImageDigestMirrorSet, ImageTagMirrorSet or ImageContentSourcePolicy`,
  );
}

/**
 * What a registries.conf says of registries.
 *
 * @throws PipelineError `usage` for one that is not valid, or says nothing
 */
function registriesIn(path: string, written: string): RegistriesConf {
  try {
    const registries = readRegistriesConf(readText(path));
    if (registries.size > 0) return registries;
    throw new PipelineError('usage', `${written} has no [[registry]]`);
  } catch (error) {
    if (!(error instanceof InvalidRegistriesConf)) throw error;
    throw new PipelineError('usage', `${written}:${error.line}: ${error.message}`, { cause: error });
  }
}

/** A file, or those of a folder: what its kustomization applies, else all YAML that is not a configuration. */
export function documentFiles(path: string): string[] {
  if (!isFolder(path)) return [path];
  // Systems list a folder in any order.
  const names = entriesIn(path)
    .map(({ name }) => name)
    .sort();
  const applied = names.includes(KUSTOMIZATION) ? resourcesOf(join(path, KUSTOMIZATION)) : undefined;
  return (applied ?? names.filter((name) => /\.ya?ml$/.test(name) && !OTHERS.has(name))).map((name) =>
    join(path, name),
  );
}

const KUSTOMIZATION = 'kustomization.yaml';
/** What `mirror plan` and `mirror sync` write beside the documents that clusters apply. */
const OTHERS: ReadonlySet<string> = new Set([
  KUSTOMIZATION,
  'registries.d.yaml',
  'imageSetConfiguration.yaml',
]);

/** The files beside a kustomization that it applies, not those in other folders or at URLs; undefined where it lists none. */
function resourcesOf(file: string): string[] | undefined {
  const [object] = readObjects(readText(file), file).objects;
  const resources = object?.value['resources'];
  if (!Array.isArray(resources)) return undefined;
  return resources.filter((name): name is string => typeof name === 'string' && /^[\w.-]+$/.test(name));
}
