/** Gates of others that guard a repository already, recognized by its files: their presets are proposed. */
import { isObject } from '../../../catalog/go/shape.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';
import { readSettings } from '../../settings.ts';
import type { PresetName } from '../presets/preset.ts';

/** `organization` in the `config.yaml` of operator-pipelines. */
const ORGANIZATIONS: ReadonlyMap<string, PresetName> = new Map([
  ['community-operators', 'community'],
  ['certified-operators', 'certified'],
  ['redhat-marketplace', 'certified'],
]);

/** Pipelines and tasks of Konflux for fragments of catalogs. */
const KONFLUX =
  /\b(?:fbc-builder|validate-fbc|fbc-validation|fbc-target-index-pruning-check|fbc-fips-check)\b/;
/** Pipeline runs of Konflux, and how many of them are read: those of one repository are alike. */
const PIPELINE_RUN = /^\.tekton\/[^/]+\.ya?ml$/;
const MOST_RUNS = 50;

/** Largest file that is read, in bytes. */
const FILE_BYTES = 256 * 1024;

/** The presets of the gates that a repository has files of. */
export async function gatesOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<PresetName[]> {
  const textOf = async (file: ListedFile | undefined): Promise<string> => {
    if (!file || whyUnreadable(file.mode) !== undefined) return '';
    const size = (await objects.info(file.id))?.size ?? FILE_BYTES + 1;
    return size > FILE_BYTES ? '' : (await objects.read(file.id, FILE_BYTES)).bytes.toString('utf8');
  };
  const settingsOf = async (path: string): Promise<unknown> => {
    const text = await textOf(files.find((file) => file.path === path));
    return readSettings(path, Buffer.from(text)).settings?.value;
  };
  const found = new Set<PresetName>();
  const { organization } = fieldsOf(await settingsOf('config.yaml'));
  const guarded = typeof organization === 'string' ? ORGANIZATIONS.get(organization) : undefined;
  if (guarded) found.add(guarded);
  // The configuration of the pipeline of k8s-operatorhub/community-operators.
  const { production } = fieldsOf(await settingsOf('ci/pipeline-config.yaml'));
  if (fieldsOf(production)['type'] === 'k8s') found.add('operatorhub');
  for (const run of files.filter(({ path }) => PIPELINE_RUN.test(path)).slice(0, MOST_RUNS))
    if (KONFLUX.test(await textOf(run))) found.add('konflux');
  return [...found];
}

/** The fields of a mapping; none of any other value. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
