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

const KIND = 'DeleteImageList';

/** Reads a DeleteImageList; every defect is a finding. */
export function readDeleteList(text: string, file: string): DeleteList {
  // Its items have no kind, so the list is one object.
  const { objects, findings } = readObjects(text, file, KIND);
  const found: Finding[] = [...findings];
  const images: Reference[] = [];
  const report = (message: string, location: Finding['location']): void => {
    found.push({ rule: 'mirror/delete', severity: 'error', message, location });
  };
  for (const { kind, value, document } of objects) {
    const { items } = value;
    if (kind !== KIND || !Array.isArray(items)) {
      report(`expected a ${KIND} with items, found ${kind}`, document.locate([]));
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
