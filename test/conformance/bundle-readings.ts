// What a tool makes of a bundle where it reads other files or keys than Portolan.
import { type Inspected, type InspectOptions, inspectedBundle } from '../../catalog/bundle/inspect.ts';
import { firstValue, readManifestFile } from '../../catalog/bundle/manifest.ts';
import { secondReading } from '../../catalog/bundle/second-reading.ts';
import type { Finding } from '../../catalog/finding.ts';
import { foldCase, isObject } from '../../catalog/go/shape.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { runInspection } from '../../catalog/rules/rule.ts';
import { compareWalk, sourceOf } from '../../catalog/source.ts';

type Files = Readonly<Record<string, Uint8Array>>;

/** The code whose message it is: of operator-framework/api by itself, of operator-sdk with it, of opm. */
export type Tool = 'api' | 'sdk' | 'opm' | 'other';

/** The rows of docs/bundle-differences.md that excuse what another reading finds. */
export const READING_ROWS = ['other-folders', 'other-annotations', 'key-case', 'mixed-documents'] as const;

/** Another reading of a bundle: what Portolan finds in the files and keys that a tool reads. */
export interface Reading {
  /** The row of docs/bundle-differences.md that says why Portolan reads something else. */
  readonly row: (typeof READING_ROWS)[number];
  readonly tools: readonly Tool[];
  readonly findings: readonly Finding[];
}

const ANNOTATIONS = 'metadata/annotations.yaml';
const KEY = 'operators.operatorframework.io.bundle.';
/** Comments before the first document, which opm takes for a document. */
const BEFORE_FIRST_SEPARATOR = /^(?:[ \t]*(?:#[^\n]*)?\n)+---[ \t]*\n/;
/** The annotations that operator-framework/api reads, in any case. */
const READ = ['channels.v1', 'channel.default.v1', 'package.v1'].map((name) => `${KEY}${name}`);

export async function otherReadings(
  files: Files,
  bundle: Inspected,
  options: InspectOptions,
): Promise<Reading[]> {
  const annotations = annotationsOfApi(files, bundle.annotations?.path);
  const common = annotations === undefined ? {} : { [ANNOTATIONS]: annotations.bytes };
  const others: { row: Reading['row']; tools: readonly Tool[]; files: Files }[] = otherFolders(files).map(
    (folder) => ({
      row: 'other-folders',
      tools: folder.startsWith('manifests/') ? ['api', 'sdk'] : ['api'],
      files: { ...metadataOf(files), ...asManifests(files, folder), ...common },
    }),
  );
  if (annotations !== undefined && !annotations.isUsual) {
    const tools: Tool[] = annotations.path.startsWith('manifests/') ? ['api', 'sdk'] : ['api'];
    others.push({
      row: 'other-annotations',
      tools,
      files: { ...withoutAnnotations(files, bundle.annotations?.path), ...common },
    });
  }
  for (const read of [withExactKeys(files, bundle), withLastKeys(files, bundle)])
    if (read !== undefined) others.push({ row: 'key-case', tools: ['opm'], files: read });
  const mixed = withSecondReadings(files, bundle);
  if (mixed !== undefined) others.push({ row: 'mixed-documents', tools: ['api', 'sdk'], files: mixed });
  return Promise.all(
    others.map(async ({ row, tools, files: read }) => ({
      row,
      tools,
      findings: runInspection(await inspectedBundle(sourceOf(read), options), RULES),
    })),
  );
}

function isVisible(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Folders other than `manifests/` with a ClusterServiceVersion: the loader of operator-framework/api takes each for a bundle's manifests. */
function otherFolders(files: Files): string[] {
  const found = Object.keys(files).filter((path) => {
    const value = firstOf(files, path);
    return isVisible(path) && isObject(value) && value['kind'] === 'ClusterServiceVersion';
  });
  return [...new Set(found.map(folderOf))].filter((folder) => folder !== 'manifests');
}

function firstOf(files: Files, path: string): unknown {
  return firstValue(readManifestFile(path, files[path] ?? new Uint8Array()))?.value;
}

function metadataOf(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path.startsWith('metadata/')));
}

/** The files of a folder, moved to `manifests/`. */
function asManifests(files: Files, folder: string): Files {
  const prefix = folder === '' ? '' : `${folder}/`;
  return Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, bytes]) => [`manifests/${path.slice(prefix.length)}`, bytes]),
  );
}

/** @param read the file that Portolan reads */
function withoutAnnotations(files: Files, read: string | undefined): Files {
  return Object.fromEntries(
    Object.entries(files).filter(([path]) => path !== read && !path.startsWith('metadata/annotations')),
  );
}

/** The annotations that operator-framework/api reads: those of the last file of the name in any folder, also of UTF-16, with keys in any case. */
function annotationsOfApi(
  files: Files,
  read: string | undefined,
): { readonly path: string; readonly bytes: Uint8Array; readonly isUsual: boolean } | undefined {
  const path = Object.keys(files)
    .filter((name) => isVisible(name) && nameOf(name).startsWith('annotations'))
    .sort(compareWalk)
    .at(-1);
  const bytes = path === undefined ? undefined : files[path];
  if (path === undefined || bytes === undefined) return undefined;
  const text = firstDocument(textOf(bytes).replace(BEFORE_FIRST_SEPARATOR, ''));
  const root = firstValue(readManifestFile(path, Buffer.from(text)))?.value;
  if (!isObject(root)) return undefined;
  const keys = Object.keys(root).filter((key) => foldCase(key) === 'annotations');
  const parts = keys.sort().flatMap((key) => root[key] ?? []);
  if (parts.length === 0 || !parts.every(isObject)) return undefined;
  const found: Readonly<Record<string, unknown>> = Object.assign({}, ...parts);
  const folded = Object.entries(found).map(([key, value]) => [
    READ.find((name) => foldCase(name) === foldCase(key)) ?? key,
    value,
  ]);
  return {
    path,
    bytes: Buffer.from(JSON.stringify({ annotations: Object.fromEntries(folded) }, plainNumber)),
    isUsual:
      path === ANNOTATIONS &&
      path === read &&
      keys.length === 1 &&
      Buffer.from(text).equals(bytes) &&
      Object.keys(found).every((key, i) => key === folded[i]?.[0]),
  };
}

/** The first document of a YAML file; what follows it may be anything. */
function firstDocument(text: string): string {
  return text.replace(/^(?:---[ \t]*\n)?/, '').replace(/\n(?:---|\.\.\.)(?:\s[\s\S]*)?$/, '\n');
}

function textOf(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** An object whose keys are partly spelled in another case than the fields that they name. */
interface MiscasedObject {
  readonly path: string;
  readonly miscased: Inspected['crds'][number]['miscased'];
}

/** The files without these keys, as opm converts what it has read; undefined if there are none. */
function withExactKeys(files: Files, { csv, crds }: Inspected): Files | undefined {
  const objects: MiscasedObject[] = crds.map(({ document, miscased }) => ({ path: document.file, miscased }));
  if (csv) objects.push({ path: csv.object.document.file, miscased: csv.miscased });
  return changed(files, objects, (parent, key) => delete parent[key]);
}

/** The files with the last of several keys for one field, as opm reads CRDs of JSON files; undefined if there are none. */
function withLastKeys(files: Files, { crds }: Inspected): Files | undefined {
  const objects = crds
    .map(({ document, miscased }) => ({ path: document.file, miscased }))
    .filter(({ path }) => /^\s*\{/.test(textOf(files[path] ?? new Uint8Array())));
  return changed(files, objects, (parent, key, field) => {
    const last = Object.keys(parent)
      .filter((name) => foldCase(name) === foldCase(field))
      .at(-1);
    parent[field] = parent[last ?? key];
    if (key !== field) delete parent[key];
  });
}

/** The files with what operator-sdk reads in the place of a ClusterServiceVersion or CRD; undefined if it reads these. */
function withSecondReadings(files: Files, { csv, crds }: Inspected): Files | undefined {
  const texts = [...(csv ? [csv.object] : []), ...crds].flatMap(({ document, value }) => {
    const second = secondReading(files[document.file] ?? new Uint8Array());
    const read = second && firstValue(readManifestFile(document.file, second))?.value;
    if (second === undefined) return [];
    // The loader has chosen the type by the first reading.
    const typed = { ...(isObject(read) ? read : {}), apiVersion: value['apiVersion'], kind: value['kind'] };
    return [[document.file, Buffer.from(JSON.stringify(typed, plainNumber))]];
  });
  return texts.length > 0 ? { ...files, ...Object.fromEntries(texts) } : undefined;
}

function changed(
  files: Files,
  objects: readonly MiscasedObject[],
  change: (parent: Record<string, unknown>, key: string, field: string) => void,
): Files | undefined {
  const found = objects.filter(({ miscased }) => miscased.length > 0);
  if (found.length === 0) return undefined;
  const texts = found.map(({ path, miscased }) => {
    const root = structuredClone(firstOf(files, path));
    // Deeper keys first: a changed parent would hide them.
    for (const { path: steps, field } of [...miscased].sort((a, b) => b.path.length - a.path.length)) {
      const parent = steps.slice(0, -1).reduce<unknown>((at, step) => Object(at)[step], root);
      if (isObject(parent)) change(parent as Record<string, unknown>, String(steps.at(-1)), field);
    }
    return [path, Buffer.from(JSON.stringify(root, plainNumber))];
  });
  return { ...files, ...Object.fromEntries(texts) };
}

function plainNumber(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
