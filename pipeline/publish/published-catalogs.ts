/** Catalogs that a commit holds and the policy publishes, and which of them differ from what was published. */
import { lookupKey, referenceSites } from '../../catalog/references/site.ts';
import { wholeCatalog } from '../change/commit-catalogs.ts';
import { catalogUnits } from '../change/unit.ts';
import type { ObjectReader } from '../git/objects.ts';
import { isTree, listFiles, SUBMODULE_MODE } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import { matchesGlob } from '../text.ts';

/** Names of the catalogs that the policy publishes, in byte order. */
export async function publishedCatalogs(
  objects: ObjectReader,
  commit: string,
  policy: Policy,
): Promise<string[]> {
  const units = await catalogUnits(objects, commit, policy.layout);
  const names = new Set([...units.values()].map(({ catalog }) => catalog));
  return [...names]
    .filter((name) => policy.publish.catalogs.some(({ pattern }) => matchesGlob(pattern, name)))
    .sort();
}

/** What a catalog is made of: paths, modes and git ids, as text. Empty for a catalog that is not there. */
export async function catalogIdentity(
  objects: ObjectReader,
  commit: string,
  { policy, name }: { readonly policy: Policy; readonly name: string },
): Promise<string> {
  const units = await catalogUnits(objects, commit, policy.layout);
  const own = [...units.values()].filter(({ catalog }) => catalog === name);
  return own
    .map(({ path, mode, id }) => `${path} ${mode} ${id}`)
    .sort()
    .join('\n');
}

/** Fetches all files of a catalog at once. */
export async function bringCatalog(
  objects: ObjectReader,
  commit: string,
  { policy, name }: { readonly policy: Policy; readonly name: string },
): Promise<void> {
  const units = await catalogUnits(objects, commit, policy.layout);
  const own = [...units.values()].filter(({ catalog }) => catalog === name);
  const listed = await Promise.all(
    own.map(({ id, mode }) => (isTree(mode) ? listFiles(objects, id) : Promise.resolve([{ id, mode }]))),
  );
  // A submodule is a commit of another repository.
  await objects.prefetch(listed.flat().flatMap(({ id, mode }) => (mode === SUBMODULE_MODE ? [] : [id])));
}

// A catalog waits while it names a bundle that no registry has: clusters would look for an image that is not there.

/** A catalog of a commit. */
interface CatalogIn {
  readonly objects: ObjectReader;
  readonly commit: string;
  readonly policy: Policy;
  readonly name: string;
}

/** The first of some references that a catalog names; undefined if it names none of them. */
export async function missingReference(
  { objects, commit, policy, name }: CatalogIn,
  missing: ReadonlySet<string>,
): Promise<string | undefined> {
  if (missing.size === 0) return undefined;
  await bringCatalog(objects, commit, { policy, name });
  const source = await wholeCatalog(objects, commit, { layout: policy.layout, name });
  const { sites } = await referenceSites(source, { limits: policy.limits });
  return sites.map(({ reference }) => lookupKey(reference)).find((key) => missing.has(key));
}

/** Why it waits, for people. */
export function heldBackBy(reference: string): string {
  return `it references ${reference}, a refused bundle without an image`;
}
