/**
 * A catalog as catalogd keeps and answers it: blobs one a line, in the order of the walk,
 * found by any of schema, package and name.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/catalogd/storage/index.go
 */
import { blobLine } from '../../fbc/cache/files.ts';
import type { Blob } from '../../fbc/model.ts';

/** What to look for; an empty text is anything. */
export interface MetaQuery {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
}

/** The lines of the blobs that match, made as they are asked for; each ends in a line feed. */
export function* metaLines(blobs: readonly Blob[], query: MetaQuery): Generator<string> {
  const isAll = query.schema === '' && query.package === '' && query.name === '';
  for (const blob of blobs) if (isAll || matches(blob, query)) yield blobLine(blob);
}

/** catalogd finds a package's own blob by its name, not by its package. */
function matches(blob: Blob, { schema, package: pkg, name }: MetaQuery): boolean {
  return (
    (schema === '' || blob.schema === schema) &&
    (pkg === '' || blob.package === pkg) &&
    (name === '' || blob.name === name)
  );
}
