/** What counts as published of a catalog, as the policy has it. */
import { tryParseReference } from '../../catalog/reference.ts';
import { matchesGlob } from '../text.ts';
import type { GraphPolicy, Released } from './policy.ts';

/** What counts as published of a catalog: the branch unless the policy says otherwise. */
export function releasedOf({ released }: Pick<GraphPolicy, 'released'>, catalog: string): Released['by'] {
  return released.find(({ pattern }) => matchesGlob(pattern, catalog))?.by ?? 'branch';
}

/** A version of the platform at the end of a catalog's name: `v4.18`, `catalog-4-18`, `prod_4_18`. */
const MINOR = /(?:^|[^0-9.])([0-9]{1,3})[._-]([0-9]{1,4})$/;

/**
 * The reference of a catalog's released image.
 *
 * @returns undefined where it asks for `{minor}` and the catalog's name ends in no version
 */
export function releasedImage(image: string, catalog: string): string | undefined {
  const withName = image.replaceAll('{catalog}', catalog);
  const [, major, minor] = MINOR.exec(catalog) ?? [];
  if (!withName.includes('{minor}')) return withName;
  return minor === undefined ? undefined : withName.replaceAll('{minor}', `${major}.${minor}`);
}

/** Why no catalog's image can be what is written; undefined where it may be. */
export function imageDefect(image: string): string | undefined {
  const [unknown] = image.replaceAll(/\{(?:catalog|minor)\}/g, '').match(/\{[^}]*\}?/) ?? [];
  if (unknown !== undefined) return `unknown placeholder ${unknown}, expected {catalog} or {minor}`;
  return tryParseReference(releasedImage(image, EXAMPLE) ?? image)
    ? undefined
    : 'it is not a valid reference';
}

/** The reference's repository where it is the same for all catalogs, as two of other versions show; undefined where not. */
export function commonRepository(image: string): { registry: string; repository: string } | undefined {
  const [one, other] = [EXAMPLE, 'v4.19'].map((name) => tryParseReference(releasedImage(image, name) ?? ''));
  return one?.registry === other?.registry && one?.repository === other?.repository ? one : undefined;
}

/** A name of a catalog with a version, for `{minor}` in references. */
const EXAMPLE = 'v4.18';
