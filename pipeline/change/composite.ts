/**
 * Composite catalogs: one file that lists packages with their images. The image of a
 * package is its owners' business; everything else in the file is the admins'.
 */
import type { Finding } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { type Composite, readComposite } from '../catalogs/render/composite.ts';

export interface CompositeChange {
  /** Packages whose image is another, and nothing else about them. */
  readonly packages: readonly {
    readonly name: string;
    readonly images: readonly [before: string, after: string];
  }[];
  /** Whether anything else in the file changed. */
  readonly beyond: boolean;
  /** Why the file cannot be read, severity error. */
  readonly unread: readonly Finding[];
}

/**
 * Compares a composite file before and after, as rendering reads it.
 *
 * @param before undefined when the file is new
 * @param after undefined when the file is removed
 */
export function compositeChange(
  file: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): CompositeChange {
  const { composite: now, findings = [] } = after ? readComposite(file, after) : {};
  const old = before && readComposite(file, before).composite;
  if (!old || !now || restOf(old) !== restOf(now)) return { packages: [], beyond: true, unread: findings };
  const images = new Map(old.references.map(({ name, image }) => [name, image]));
  const packages = now.references.flatMap(({ name, image }) => {
    const was = images.get(name) ?? '';
    return was === image ? [] : [{ name, images: [was, image] as const }];
  });
  return { packages, beyond: false, unread: findings };
}

/** Everything but the images, as text. */
function restOf({ value, references }: Composite): string {
  const list: unknown[] = Array.isArray(value['references']) ? value['references'] : [];
  const rest = list.map((written, i) => [
    references[i]?.name,
    Object.entries(isObject(written) ? written : {}).filter(([key]) => key !== 'name' && key !== 'image'),
  ]);
  return JSON.stringify({ ...value, references: rest });
}
