/**
 * Blobs that lie in one package's place and belong to another: in templates, which are
 * rendered into catalogs, and in bundles, which say themselves whose they are.
 */
import type { Finding, Location } from '../../catalog/finding.ts';
import { type Blob, locate } from '../../catalog/model.ts';
import { isObject } from '../../catalog/shape.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { PathChange } from '../git/tree.ts';
import { readSettings } from '../settings.ts';
import type { FileReader } from './content.ts';
import type { PlacedPath } from './path.ts';

export interface ForeignPlace {
  /** The package that the blob belongs to. */
  readonly package: string;
  /** The package in whose place it lies. */
  readonly place: string;
  readonly location: Location;
}

export interface Named {
  readonly name: string;
  readonly location: Location;
}

export interface TemplateRead {
  /** Packages that the template's blobs name, each once. */
  readonly named: readonly Named[];
  /** Why it cannot be read, severity error. */
  readonly unread: readonly Finding[];
}

/** Packages that a template names beyond its own and did not name before. */
export async function packagesOfTemplate(
  reader: FileReader,
  { path, before, after, package: own = '' }: PlacedPath & PathChange,
): Promise<TemplateRead> {
  if (!after || !/\.(?:ya?ml|json)$/i.test(path)) return { named: [], unread: [] };
  const { blobs, findings } = await reader.read({ path, ...after });
  const old = before && Object.values((await reader.read({ path, ...before })).blobs).flat();
  const known = new Set(['', own, ...(old ?? []).flatMap(namesIn).map(({ name }) => name)]);
  const named = new Map<string, Named>();
  for (const blob of Object.values(blobs).flat()) {
    for (const { name, steps } of namesIn(blob)) {
      if (known.has(name) || named.has(name)) continue;
      named.set(name, { name, location: { ...locate(blob, ...steps), file: path } });
    }
  }
  return { named: [...named.values()], unread: findings.filter(({ severity }) => severity === 'error') };
}

/** The package of a blob, or those of the blobs that a template lists. */
function namesIn(blob: Blob): { name: string; steps: (string | number)[] }[] {
  const own = { name: blob.schema === 'olm.package' ? blob.name : blob.package, steps: [] };
  const entries = blob.value['entries'];
  if (blob.schema !== 'olm.template.basic' || !Array.isArray(entries)) return [own];
  return [own, ...entries.map((entry, i) => ({ name: packageOf(entry), steps: ['entries', i] }))];
}

/** Go finds fields whatever the case of their keys. */
function packageOf(entry: unknown): string {
  if (!isObject(entry)) return '';
  const field = (name: string): string => {
    const key = Object.keys(entry).find((written) => written.toLowerCase() === name);
    const value = key === undefined ? undefined : entry[key];
    return typeof value === 'string' ? value : '';
  };
  return field('schema') === 'olm.package' ? field('name') : field('package');
}

const PACKAGE_ANNOTATION = 'operators.operatorframework.io.bundle.package.v1';

/** Largest `annotations.yaml` that is read, in bytes. */
const ANNOTATIONS_BYTES = 1024 * 1024;

/** The package that a bundle's `annotations.yaml` names, if the path is one and it did not name it before. */
export async function packageOfBundle(
  objects: ObjectReader,
  { path, before, after }: PathChange,
): Promise<readonly Named[]> {
  if (!after || !/\/metadata\/[^/]+\.ya?ml$/.test(path)) return [];
  const now = await annotatedPackage(objects, path, after.id);
  const old = before && (await annotatedPackage(objects, path, before.id));
  return now && now.name !== old?.name ? [now] : [];
}

async function annotatedPackage(objects: ObjectReader, path: string, id: string): Promise<Named | undefined> {
  const { settings } = readSettings(path, (await objects.read(id, ANNOTATIONS_BYTES)).bytes);
  const annotations = isObject(settings?.value) ? settings.value['annotations'] : undefined;
  const name = isObject(annotations) ? annotations[PACKAGE_ANNOTATION] : undefined;
  if (!settings || typeof name !== 'string') return undefined;
  return { name, location: settings.locate(['annotations', PACKAGE_ANNOTATION]) };
}
