/**
 * Blobs that lie in one package's place and belong to another: in templates, which are
 * rendered into catalogs, and in bundles, which say themselves whose they are.
 */
import { readManifestFile } from '../../catalog/bundle/manifest.ts';
import { packageNamedIn } from '../../catalog/bundle/registry-bundle.ts';
import type { Finding, Location } from '../../catalog/finding.ts';
import { type Blob, locate } from '../../catalog/model.ts';
import { isObject } from '../../catalog/shape.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import type { PathChange } from '../git/tree.ts';
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
  if (!after) return { named: [], unread: [] };
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
  // A template may have any name; what is none, a README beside it, need not be readable as one.
  const errors = NAMED_TEMPLATE.test(path) ? findings.filter(({ severity }) => severity === 'error') : [];
  return { named: [...named.values()], unread: errors };
}

const NAMED_TEMPLATE = /\.(?:ya?ml|json)$/i;

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

/**
 * The package that the annotations of a bundle name, if the path is one of their files and did not name it before.
 *
 * @param most bytes that a file may have: what is larger has been refused, and says nothing of before
 */
export async function packageOfBundle(
  objects: ObjectReader,
  { path, before, after }: PathChange,
  most: number,
): Promise<readonly Named[]> {
  if (!after || !/\/metadata\/[^/]+$/.test(path)) return [];
  const now = await annotatedPackage(objects, { path, ...after }, most);
  const old = before && (await annotatedPackage(objects, { path, ...before }, most));
  return now && now.name !== old?.name ? [now] : [];
}

async function annotatedPackage(
  objects: ObjectReader,
  { path, mode, id }: NonNullable<PathChange['after']> & Pick<PathChange, 'path'>,
  most: number,
): Promise<Named | undefined> {
  if (whyUnreadable(mode) !== undefined) return undefined;
  const info = await objects.info(id);
  if (info && info.size > most) return undefined;
  return packageNamedIn(readManifestFile(path, (await objects.read(id, most)).bytes));
}
