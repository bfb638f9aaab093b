/** The files of a Helm chart, from a directory or an archive; archives are somebody else's bytes and stay packed. */
import { statSync } from 'node:fs';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { isObject } from '../../../catalog/go/shape.ts';
import { directorySource, fileError, isDirectory, readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readTree } from '../../oci/image/tree.ts';

interface ChartFiles {
  readonly name: string;
  readonly version: string;
  /** Whether it only holds helpers for other charts, and no manifests of its own. */
  readonly isLibrary: boolean;
  /** Texts of `templates/` and `crds/`, also of subcharts, by path within the chart. */
  readonly templates: ReadonlyMap<string, string>;
  /** Subcharts that are archives within the chart, and those that the chart needs and does not have. */
  readonly unseen: readonly string[];
}

/** Bytes as helm limits archives; with many small files, each entry costs memory, too. */
const LIMITS = { bytes: 100 * 2 ** 20, layerBytes: 100 * 2 ** 20, fileBytes: 5 * 2 ** 20, entries: 20_000 };

/**
 * Reads a chart from a directory or a packed file.
 *
 * @param scratch an existing directory
 * @throws PipelineError `not-found`, `usage` for what is not a chart, `too-large`, `corrupt`
 */
export async function readChartFiles(path: string, scratch: string): Promise<ChartFiles> {
  const files = isDirectory(path) ? await filesIn(path) : await filesOf(path, scratch);
  const text = files.get('Chart.yaml');
  if (text === undefined)
    throw new PipelineError('usage', `${path} is not a Helm chart: it has no Chart.yaml`);
  const chart = yamlIn(text, `Chart.yaml in ${path}`);
  const { name, version, type } = isObject(chart) ? chart : {};
  if (typeof name !== 'string' || name === '' || typeof version !== 'string')
    throw new PipelineError('usage', `Chart.yaml in ${path} has no name or no version`);
  return {
    name,
    version,
    isLibrary: type === 'library',
    templates: new Map([...files].filter(([file]) => TEMPLATE.test(file))),
    unseen: [...files.keys()].filter((file) => PACKED.test(file)).concat(missingCharts(chart, files)),
  };
}

/** Templates but the notes, which are for people, and CRDs; also those of subcharts. */
const TEMPLATE = /^(?:charts\/[^/]+\/)*(?:templates\/.*(?<!NOTES\.txt)|crds\/.*\.(?:ya?ml|json))$/;
/** Folders of a chart: what is in one is not read where it is a link. */
const FOLDER = /^(?:charts\/[^/]+\/)*(?:templates|crds|charts(?:\/[^/]+)?)$/;
/** Charts that are archives in the chart, and the metadata of the chart or of a subchart. */
const PACKED = /^(?:charts\/[^/]+\/)*charts\/[^/]+\.tgz$/;
const CHART = /^(?:charts\/[^/]+\/)?Chart\.yaml$/;
/**
 * The version that follows the name of a packed chart: `charts/redis-cluster-1.0.0.tgz` is not the chart `redis`, nor is
 * `charts/redis-7-1.0.0.tgz`.
 */
const VERSION = /^v?\d+(?:(?:\.\d+){1,2}(?:[-+].*)?)?\.tgz$/;
/** Where charts of helm 2 name their dependencies. */
const REQUIREMENTS = 'requirements.yaml';

/**
 * Whether a file of a chart is read: its templates, its metadata and its dependencies. A packed chart in it
 * is only named.
 */
function isWanted(path: string): boolean {
  return path === REQUIREMENTS || CHART.test(path) || TEMPLATE.test(path) || PACKED.test(path);
}

/** The charts that a chart depends on, and that are not in it, by name. */
function missingCharts(chart: unknown, files: ReadonlyMap<string, string>): string[] {
  const requirements = yamlIn(files.get(REQUIREMENTS) ?? '{}', REQUIREMENTS);
  const needed = [chart, requirements].flatMap((one) => (isObject(one) ? (one['dependencies'] ?? []) : []));
  const subcharts = [...files].filter(([path]) => path !== 'Chart.yaml' && CHART.test(path));
  const subchartNames = new Set(subcharts.map(([path, text]) => nameIn(yamlIn(text, path))));
  const packed = [...files.keys()].filter((path) => PACKED.test(path));
  const isPacked = (name: string): boolean =>
    packed.some(
      (path) => path.startsWith(`charts/${name}-`) && VERSION.test(path.slice(`charts/${name}-`.length)),
    );
  return needed.map(nameIn).filter((name) => !subchartNames.has(name) && !isPacked(name));
}

/** The name of a chart or dependency; '' where it has none. */
function nameIn(chart: unknown): string {
  return isObject(chart) && typeof chart['name'] === 'string' ? chart['name'] : '';
}

/** A file of a chart. @throws PipelineError `usage` */
function yamlIn(text: string, name: string): unknown {
  try {
    // A version such as 1.10 is text.
    return load(text, { schema: FAILSAFE_SCHEMA });
  } catch (cause) {
    throw new PipelineError('usage', `${name} is not valid YAML`, { cause });
  }
}

/** The files of a chart in a directory that are read for images; packed charts in it are only named. */
async function filesIn(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  let bytes = 0;
  for (const file of await directorySource(path).files()) {
    // Behind a link in place of a folder, templates with images could be missed.
    const isLinked = file.unreadable !== undefined && FOLDER.test(file.path);
    if (!isWanted(file.path) && !isLinked) continue;
    if (file.unreadable !== undefined)
      throw new PipelineError('usage', `${path}/${file.path}: ${file.unreadable}`);
    const content = PACKED.test(file.path) ? new Uint8Array(0) : await file.read();
    bytes += content.length;
    if (bytes > LIMITS.bytes)
      throw new PipelineError('too-large', `the chart ${path} is larger than 100 MiB`);
    files.set(file.path, new TextDecoder().decode(content));
  }
  return files;
}

/** The files of a packed chart that are read for images; packed charts in it are only named. */
async function filesOf(path: string, scratch: string): Promise<Map<string, string>> {
  // All files of a packed chart are in one folder, which is called after the chart.
  const inner = (name: string): string => name.slice(name.indexOf('/') + 1);
  const tree = await readTree([archive(path)], {
    scratch,
    limits: LIMITS,
    wanted: (name) => isWanted(inner(name)),
  });
  try {
    const files = new Map<string, string>();
    for (const [name, entry] of tree.entries) {
      const file = inner(name);
      if (entry.kind !== 'file' || !isWanted(file)) continue;
      files.set(file, PACKED.test(file) ? '' : new TextDecoder().decode(tree.read(entry)));
    }
    return files;
  } finally {
    tree.close();
  }
}

/** Bytes of a packed chart. */
export const LARGEST_ARCHIVE: number = 32 * 2 ** 20;

/** The bytes of a packed chart. @throws PipelineError `too-large` */
async function* archive(path: string): AsyncGenerator<Uint8Array> {
  const { size } = sizeOf(path);
  if (size > LARGEST_ARCHIVE) throw new PipelineError('too-large', `the chart ${path} is larger than 32 MiB`);
  yield readFileBytes(path);
}

/** The size of a file, in bytes. @throws PipelineError `not-found`, `io` */
function sizeOf(path: string): { readonly size: number } {
  try {
    return statSync(path);
  } catch (error) {
    throw fileError(error, path);
  }
}
