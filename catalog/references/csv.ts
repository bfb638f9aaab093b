/** What a bundle of a catalog says in its ClusterServiceVersion, as far as the catalog holds that. */
import { decodeBase64 } from '../base64.ts';
import type { Bundle } from '../model.ts';
import { isObject } from '../shape.ts';
import { compose } from '../yaml/compose.ts';
import { readTree } from '../yaml/parser.ts';
import { YamlError } from '../yaml/tree.ts';

type Fields = Readonly<Record<string, unknown>>;

const CSV_KIND = 'ClusterServiceVersion';

/** The ClusterServiceVersion among the manifests of a bundle; undefined for those that carry metadata only, or none. */
export function csvOf({ properties }: Bundle): Fields | undefined {
  for (const { type, value } of properties) {
    if (type !== 'olm.bundle.object' || !isObject(value) || typeof value['data'] !== 'string') continue;
    const text = new TextDecoder().decode(decodeBase64(value['data']));
    // Few manifests name the kind at all; only those are parsed.
    if (!text.includes(CSV_KIND)) continue;
    const manifest = parsed(text);
    if (isObject(manifest) && manifest['kind'] === CSV_KIND) return manifest;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : compose(readTree(text, { depth: 1000 }).root).value;
  } catch (error) {
    // What is no manifest is for the rules that say so.
    if (error instanceof YamlError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Labels of the ClusterServiceVersion; undefined where the catalog holds nothing of it. */
function labelsOf(bundle: Bundle): Fields | undefined {
  const metadata = bundle.properties.find(({ type }) => type === 'olm.csv.metadata')?.value;
  if (isObject(metadata)) return fieldOf(metadata, 'labels');
  const csv = csvOf(bundle);
  return csv && fieldOf(fieldOf(csv, 'metadata'), 'labels');
}

const ARCHITECTURE = 'operatorframework.io/arch.';
const SYSTEM = 'operatorframework.io/os.';

/**
 * The platforms (`os/architecture`) on which a bundle says that it runs: every pair of its labels,
 * linux and amd64 where it has none.
 *
 * @returns undefined where the catalog holds nothing of the ClusterServiceVersion
 * @see https://olm.operatorframework.io/docs/advanced-tasks/ship-operator-supporting-multiarch/
 */
export function supportedPlatforms(bundle: Bundle): readonly string[] | undefined {
  const labels = labelsOf(bundle);
  if (!labels) return undefined;
  const named = (prefix: string, usual: string): readonly string[] => {
    const supported = Object.entries(labels).filter(
      ([key, value]) => key.startsWith(prefix) && value === 'supported',
    );
    return supported.length === 0 ? [usual] : supported.map(([key]) => key.slice(prefix.length)).sort();
  };
  const architectures = named(ARCHITECTURE, 'amd64');
  return named(SYSTEM, 'linux').flatMap((system) => architectures.map((one) => `${system}/${one}`));
}

/** An image that a ClusterServiceVersion uses, and where. */
export interface UsedImage {
  readonly image: string;
  /** Such as `container "manager" of deployment "x"`. */
  readonly place: string;
}

const RELATED_IMAGE = /^RELATED_IMAGE_/;

/** Images that the deployments run, and those in their `RELATED_IMAGE_…` variables. */
export function usedImages(csv: Fields): UsedImage[] {
  const strategy = fieldOf(fieldOf(fieldOf(csv, 'spec'), 'install'), 'spec');
  return listOf(strategy, 'deployments').flatMap((deployment) => {
    const pod = fieldOf(fieldOf(fieldOf(deployment, 'spec'), 'template'), 'spec');
    const containers = [...listOf(pod, 'initContainers'), ...listOf(pod, 'containers')];
    return containers.flatMap((container) => {
      const place = `container ${shown(container['name'])} of deployment ${shown(deployment['name'])}`;
      const variables = listOf(container, 'env').filter(({ name }) => RELATED_IMAGE.test(String(name)));
      return [
        { image: container['image'], place },
        ...variables.map(({ name, value }) => ({ image: value, place: `${String(name)} in ${place}` })),
      ].filter((used): used is UsedImage => typeof used.image === 'string' && used.image !== '');
    });
  });
}

function shown(name: unknown): string {
  return JSON.stringify(typeof name === 'string' ? name : '');
}

function fieldOf(fields: Fields, key: string): Fields {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return isObject(value) ? value : {};
}

function listOf(fields: Fields, key: string): Fields[] {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}
