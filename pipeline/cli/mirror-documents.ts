/** Files that say where nodes look for images: the mirror documents of a cluster, and registries.conf. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../../catalog/go/shape.ts';
import { type NodeConfig, nodeConfig } from '../../catalog/mirror/node/node.ts';
import {
  InvalidRegistriesConf,
  type RegistriesConf,
  readRegistriesConf,
} from '../../catalog/mirror/node/registries-conf.ts';
import { mirrorKinds, mirrorRules, readObjects } from '../../catalog/mirror/read.ts';
import { entriesIn, isFolder, readText } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { readSettings } from '../settings.ts';
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
  return filesAt(path, new Set());
}

/** @param seen folders on the way, since kustomizations may name each other in a circle */
function filesAt(path: string, seen: ReadonlySet<string>): string[] {
  if (!isFolder(path)) return [path];
  const folder = realpathSync(path);
  if (seen.has(folder)) return [];
  // Systems list a folder in any order.
  const names = entriesIn(path)
    .map(({ name }) => name)
    .sort();
  const kustomization = KUSTOMIZATIONS.find((name) => names.includes(name));
  const applied = kustomization === undefined ? undefined : resourcesOf(join(path, kustomization));
  if (applied) return applied.flatMap((name) => filesAt(join(path, name), new Set([...seen, folder])));
  return names.filter((name) => /\.ya?ml$/.test(name) && !OTHERS.has(name)).map((name) => join(path, name));
}

/** @see https://kubectl.docs.kubernetes.io/references/kustomize/glossary/#kustomization */
const KUSTOMIZATIONS = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];
/** What `mirror plan` and `mirror sync` write beside the documents that clusters apply. */
const OTHERS: ReadonlySet<string> = new Set([
  ...KUSTOMIZATIONS,
  'registries.d.yaml',
  'imageSetConfiguration.yaml',
]);

/** The files and folders that a kustomization applies, from its own folder, but for those at URLs; undefined where it lists none. */
function resourcesOf(file: string): string[] | undefined {
  // Kustomize needs neither its apiVersion nor its kind.
  const { settings } = readSettings(file, Buffer.from(readText(file)));
  const resources = isObject(settings?.value) ? settings.value['resources'] : undefined;
  if (!Array.isArray(resources)) return undefined;
  // A URL may lack its scheme: `github.com/org/repo/deploy?ref=v1`.
  return resources.filter(
    (name): name is string =>
      typeof name === 'string' && (/^[\w.-]+$/.test(name) || existsSync(join(dirname(file), name))),
  );
}
