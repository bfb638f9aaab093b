/** A catalog waits while it names a bundle that no registry has: clusters would look for an image that is not there. */
import { lookupKey, referenceSites } from '../../catalog/references/site.ts';
import { wholeCatalog } from '../change/whole-catalog.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Policy } from '../policy/policy.ts';
import { bringCatalog } from './published-catalogs.ts';

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
