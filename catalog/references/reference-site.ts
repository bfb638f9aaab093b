import type { Location } from '../finding.ts';
import type { Reference } from '../reference.ts';

/** `bundle`: what is installed; `related`: what it needs; `base`: what an index image is built on. */
export type SiteKind = 'bundle' | 'related' | 'base';

/** One place that names an image. */
export interface ReferenceSite {
  readonly kind: SiteKind;
  /** As it stands there. */
  readonly written: string;
  readonly reference: Reference;
  /** The package, or the empty string where the place belongs to none. */
  readonly package: string;
  /** Name of the bundle, or the empty string: templates do not know it yet. */
  readonly bundle: string;
  readonly location: Location;
}
