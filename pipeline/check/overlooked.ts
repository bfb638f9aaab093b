/** Content of catalogs where the layout knows of none: nobody has judged it, and that must be said. */

import type { Change } from '../change/change.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { CheckReport } from '../report/report.ts';

/** Files that are looked into, and bytes of the largest of them. */
const LOOKED_INTO = 50;
const LARGEST = 4 * 1024 * 1024;

const FORMAT = /\.(?:ya?ml|json)$/i;
const CATALOG = /(?:^|[\s{,])"?schema"?\s*:\s*["']?olm\.(?:package|channel|bundle)\b/m;

/** What a change brings of catalogs in places that the layout does not know. */
export async function overlooked(
  objects: ObjectReader,
  { paths }: Change,
): Promise<CheckReport['unchecked']> {
  const strange = paths.filter(
    ({ area, path }) => (area === 'unknown' || area === 'root') && FORMAT.test(path),
  );
  const found: string[] = [];
  for (const { path, before, after } of strange.slice(0, LOOKED_INTO)) {
    const file = after ?? before;
    if (file && (await isCatalog(objects, file.id))) found.push(path);
  }
  const [first] = found;
  if (first === undefined) return [];
  const what = found.length === 1 ? first : `${first} and ${found.length - 1} more files`;
  const why =
    'it holds a catalog, but no pattern of the layout matches it: name it in the policy, under layout.catalog';
  return [{ what, why }];
}

async function isCatalog(objects: ObjectReader, id: string): Promise<boolean> {
  try {
    return CATALOG.test((await objects.read(id, LARGEST)).bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof PipelineError) return false;
    throw error;
  }
}
