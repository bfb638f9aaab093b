/**
 * A catalog as catalogd keeps and answers it: blobs one a line, in the order of the walk,
 * found by any of schema, package and name.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/catalogd/storage/index.go
 */
import { blobLine } from '../../fbc/cache/files.ts';
import type { Blob } from '../../fbc/model.ts';

/** The values that a blob must have; an empty text matches every blob. */
export interface MetaQuery {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
}

/** Yields a line of JSON for each blob that matches, with a line feed. */
export function* metaLines(blobs: readonly Blob[], query: MetaQuery): Generator<string> {
  const isAll = query.schema === '' && query.package === '' && query.name === '';
  for (const blob of blobs) if (isAll || matches(blob, query)) yield blobLine(blob);
}

/**
 * Whether a blob answers a query; an empty field of the query matches all. As in catalogd, a query for a package does not
 * match its `olm.package` blob, which has a name but no package.
 */
function matches(blob: Blob, { schema, package: pkg, name }: MetaQuery): boolean {
  return (
    (schema === '' || blob.schema === schema) &&
    (pkg === '' || blob.package === pkg) &&
    (name === '' || blob.name === name)
  );
}
