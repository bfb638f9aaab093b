/**
 * Composite catalogs: one file that lists packages with their images. The image of a
 * package is its owners' business; everything else in the file is the admins'.
 */
import type { Finding } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/shape.ts';
import { readSettings } from '../settings.ts';

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
 * Compares a composite file before and after.
 *
 * @param before undefined when the file is new
 * @param after undefined when the file is removed
 */
export function compositeChange(
  file: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): CompositeChange {
  if (!before || !after) {
    const unread = after ? readSettings(file, after).findings : [];
    return { packages: [], beyond: true, unread };
  }
  const old = contentOf(readSettings(file, before).settings?.value);
  const { settings, findings: unread } = readSettings(file, after);
  const now = contentOf(settings?.value);
  if (!old || !now || old.rest !== now.rest) return { packages: [], beyond: true, unread };
  const packages = [...now.images].flatMap(([name, image]) => {
    const was = old.images.get(name) ?? '';
    return was === image ? [] : [{ name, images: [was, image] as const }];
  });
  return { packages, beyond: false, unread };
}

interface CompositeContent {
  readonly images: ReadonlyMap<string, string>;
  /** Everything but the images, as text. */
  readonly rest: string;
}

/** Undefined for a file of another form, in which nothing is anybody's in particular. */
function contentOf(value: unknown): CompositeContent | undefined {
  const references = isObject(value) ? value['references'] : undefined;
  if (!isObject(value) || !Array.isArray(references)) return undefined;
  const images = new Map<string, string>();
  const rest: unknown[] = [];
  for (const reference of references) {
    if (!isObject(reference)) return undefined;
    const { name, image, ...others } = reference;
    if (typeof name !== 'string' || typeof image !== 'string' || images.has(name)) return undefined;
    images.set(name, image);
    rest.push({ name, others });
  }
  return { images, rest: JSON.stringify({ ...value, references: rest }) };
}
