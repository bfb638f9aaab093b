/** Catalogs of one platform that are in images of their own: patterns whose files no Dockerfile copies together. */
import { groupedBy } from '../../../catalog/go/grouped.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { BuildFacts } from './build-files.ts';
import { VARIABLE } from './build-files.ts';
import type { CatalogFile } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';

/**
 * Names catalogs apart that patterns would join, where Dockerfiles copy the files of each pattern by themselves:
 * `{catalog}/a/catalog/**` and `{catalog}/b/catalog/**` are `a-{catalog}` and `b-{catalog}`.
 *
 * @returns the same patterns where one image has them all, or no Dockerfile says which has which
 */
export function withImageNames(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFile[],
  build: BuildFacts,
): readonly WrittenPattern[] {
  const plain = patterns.flatMap((one) => (typeof one === 'string' ? [one] : []));
  const nameOf = catalogNamer(patterns);
  const owner = (path: string): string | undefined =>
    plain.find((pattern) => catalogNamer([pattern])(path) !== undefined);
  const own = files.filter(({ path }) => owner(path) !== undefined);
  const joined = [...groupedBy(own, ({ path }) => nameOf(path) ?? '').values()].filter(
    (some) => new Set(some.map(({ path }) => owner(path))).size > 1,
  );
  if (joined.length === 0 || !joined.every((some) => areApart(some, owner, build))) return patterns;
  const split = new Set(joined.flat().map(({ path }) => owner(path)));
  const names = new Map([...split].flatMap((one) => (one === undefined ? [] : [[one, nameIn(one, plain)]])));
  return new Set(names.values()).size < names.size
    ? patterns
    : patterns.map((one) => {
        const name = typeof one === 'string' ? names.get(one) : undefined;
        return typeof one === 'string' && name !== undefined ? { path: one, name } : one;
      });
}

/** Whether each file is copied into an image, and no Dockerfile copies files of two patterns. */
function areApart(
  files: readonly CatalogFile[],
  owner: (path: string) => string | undefined,
  { mentions }: BuildFacts,
): boolean {
  const images = new Map<string, Set<string | undefined>>();
  for (const { path } of files) {
    const copies = mentions.filter(
      (one) => one.isCopied && !one.path.includes(VARIABLE) && `${path}/`.startsWith(`${one.path}/`),
    );
    if (copies.length === 0) return false;
    for (const { file } of copies) images.set(file, (images.get(file) ?? new Set()).add(owner(path)));
  }
  return [...images.values()].every(({ size }) => size === 1);
}

/** The folders that other patterns do not have, and the catalog's own name. */
function nameIn(pattern: string, all: readonly string[]): string {
  const others = all.filter((one) => one !== pattern).map((one) => new Set(one.split('/')));
  const folders = pattern
    .split('/')
    .slice(0, -1)
    .filter((folder) => !/[{*]/.test(folder) && !others.some((other) => other.has(folder)));
  return [...folders, '{catalog}'].join('-').replaceAll(/[^A-Za-z0-9._{}-]/g, '-');
}
