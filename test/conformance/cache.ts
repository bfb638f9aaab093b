// The cache that opm writes for small catalogs, and the digest that it seals it with.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  bundleFiles,
  type CacheFile,
  metaFile,
  packageMember,
  packagesJson,
} from '../../catalog/fbc/cache/files.ts';
import { load } from '../../catalog/fbc/load.ts';
import { catalogOf } from '../../catalog/fbc/model.ts';
import { compareText } from '../../catalog/go/text.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { cacheDigest, type TreeEntry } from '../fakes/cache-digest.ts';
import type { CaseResult, ConformanceSet } from './main.ts';

/** What `index.json` says of a case: permissions as text, such as `0644, c.yaml 0600`. */
interface Recorded {
  readonly digest: string;
  readonly modes: Readonly<Record<string, string>>;
}

/** Folders without files, which recordings cannot hold, by the digest that names them. */
const EMPTY_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map([['e9f3fc669ef587e4', ['empty']]]);

export const cases: ConformanceSet['cases'] = async function* (folder, fallback) {
  const root = [folder, fallback].map((at) => join(at, 'fbc/_cache-json')).find(hasIndex);
  if (root === undefined) return;
  const index = JSON.parse(readFileSync(join(root, 'index.json'), 'utf8')) as Record<string, Recorded>;
  for (const [name, recorded] of Object.entries(index))
    yield await compared(name, join(root, name), recorded);
};

function hasIndex(folder: string): boolean {
  return lstatSync(join(folder, 'index.json'), { throwIfNoEntry: false }) !== undefined;
}

async function compared(name: string, root: string, { digest, modes }: Recorded): Promise<CaseResult> {
  const configs = treeOf(join(root, 'configs'), modes['configs dirs'] ?? '', modes['configs files'] ?? '');
  for (const path of EMPTY_FOLDERS.get(digest) ?? []) {
    configs.push({ path, kind: 'directory', mode: permissions(modes['configs dirs'] ?? ''), size: 0 });
  }
  const files = await cacheFiles(join(root, 'configs'));
  const found = new Map(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
  const wanted = treeOf(join(root, 'cache/cache'), '0750', '0640')
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => path);
  const differing = [...new Set([...wanted, ...found.keys()])].filter(
    (path) =>
      !wanted.includes(path) || readFileSync(join(root, 'cache/cache', path), 'utf8') !== found.get(path),
  );
  if (differing.length > 0) return { name, outcome: 'differ', detail: differing.join(', ') };
  const cache = cacheTree(
    files,
    permissions(modes['cache dirs'] ?? ''),
    permissions(modes['cache files'] ?? ''),
  );
  const computed = await cacheDigest(configs, cache);
  return computed === digest
    ? { name, outcome: 'agree' }
    : { name, outcome: 'differ', detail: `digest ${computed}, not ${digest}` };
}

async function cacheFiles(configs: string): Promise<CacheFile[]> {
  const { blobs } = await load(directorySource(configs));
  const packages = [...catalogOf(blobs).packages.values()]
    .filter(({ blob }) => blob)
    .sort((a, b) => compareText(a.name, b.name));
  const index = packagesJson(packages.map((pkg) => packageMember(pkg, { icon: true })));
  const metas = new Map(blobs.others.map(metaFile).map((file) => [file.path, file]));
  return [
    ...packages.flatMap((pkg) => [...bundleFiles(pkg)]),
    ...metas.values(),
    { path: 'packages.json', bytes: Buffer.from(index) },
  ];
}

function permissions(text: string): number {
  return Number.parseInt(text, 8);
}

/** A folder as a tree. Recordings cannot hold links: a file whose whole text names its neighbour was one. */
function treeOf(root: string, directories: string, files: string): TreeEntry[] {
  const [mode = '', ...special] = files.split(', ');
  const modes = new Map(special.map((text) => text.split(' ') as [string, string]));
  const tree: TreeEntry[] = [{ path: '.', kind: 'directory', mode: permissions(directories), size: 0 }];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = full.slice(root.length + 1);
    if (entry.isDirectory()) {
      tree.push({ path, kind: 'directory', mode: permissions(directories), size: 0 });
    } else if (entry.isFile() && !isLinkText(full)) {
      const bytes = readFileSync(full);
      const own = permissions(modes.get(path) ?? mode);
      tree.push({ path, kind: 'file', mode: own, size: bytes.length, content: () => [bytes] });
    }
  }
  return tree;
}

function isLinkText(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  if (text.length === 0 || text.length > 255 || /[\s/]/.test(text)) return false;
  return lstatSync(join(dirname(file), text), { throwIfNoEntry: false })?.isFile() ?? false;
}

function cacheTree(files: readonly CacheFile[], directory: number, file: number): TreeEntry[] {
  const folders = new Set(['.']);
  for (const { path } of files) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at));
  }
  return [
    ...[...folders].map((path): TreeEntry => ({ path, kind: 'directory', mode: directory, size: 0 })),
    ...files.map(
      ({ path, bytes }): TreeEntry => ({
        path,
        kind: 'file',
        mode: file,
        size: bytes.length,
        content: () => [bytes],
      }),
    ),
  ];
}
