/**
 * Reading oc-mirror's `delete-images.yaml`: what may go from a mirror.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/api/v2alpha1/type_delete.go
 */
import type { Finding } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { type Reference, tryParseReference } from '../../reference.ts';
import { readObjects } from '../read.ts';

interface DeleteList {
  /** What is deleted, as nodes name it in the mirror. */
  readonly images: readonly Reference[];
  readonly findings: readonly Finding[];
}

/** Reads a DeleteImageList; every defect is a finding. */
export function readDeleteList(text: string, file: string): DeleteList {
  // `readObjects` would take a kind that ends with List apart, but the items have no kind: the list is read as one object.
  const { objects, findings } = readObjects(
    text.replace(/^kind: DeleteImageList\b/m, 'kind: DeleteImages'),
    file,
  );
  const found: Finding[] = [...findings];
  const images: Reference[] = [];
  const report = (message: string, location: Finding['location']): void => {
    found.push({ rule: 'mirror/delete', severity: 'error', message, location });
  };
  for (const { kind, value, document } of objects) {
    const { items } = value;
    if (kind !== 'DeleteImages' || !Array.isArray(items)) {
      report(`expected a DeleteImageList with items, found ${kind}`, document.locate([]));
      continue;
    }
    for (const [i, item] of items.entries()) {
      const written: unknown = isObject(item) ? item['imageReference'] : undefined;
      const reference =
        typeof written === 'string' ? tryParseReference(written.replace(/^docker:\/\//, '')) : undefined;
      if (reference) images.push(reference);
      else report(`${JSON.stringify(written)} is not a valid reference`, document.locate(['items', i]));
    }
  }
  return { images, findings: found };
}
