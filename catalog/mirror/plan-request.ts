/** What is asked of a mirror plan. */
import type { Location } from '../finding.ts';
import type { Target } from './destination-names.ts';
import type { CatalogImages } from './images.ts';
import type { Destination } from './placement.ts';
import type { Platforms } from './platforms.ts';
import type { Scope } from './scope.ts';
import type { CatalogNames, Style } from './style.ts';

export interface PlanRequest {
  readonly catalogs: readonly CatalogRequest[];
  /** `HOST[:PORT][/PATH]` or, in the style `oc`, `file://PATH`. */
  readonly to: string;
  readonly style?: Style | undefined;
  /** Most components of a destination's path; 0 for no limit. */
  readonly maxComponents?: number | undefined;
  /** How wide the entries of mirror sets reach. */
  readonly scope?: Scope | undefined;
  /** How wide the entries of content source policies reach; absent: like mirror sets. */
  readonly policyScope?: Scope | undefined;
  /** Images that no catalog names. */
  readonly additional?: readonly AdditionalImage[] | undefined;
  /** Images that are left out: patterns for a reference or a destination. */
  readonly blocked?: readonly BlockedImages[] | undefined;
  /** What tags mean at this moment, by reference as written: pins the copies. */
  readonly lock?: ReadonlyMap<string, string> | undefined;
}

export interface BlockedImages {
  readonly source: string;
  /** @throws StepsError */
  test(text: string): boolean;
}

export interface CatalogRequest {
  /** The index image, as somebody names it. */
  readonly reference: string;
  /** The index image's digest, where it is known. */
  readonly digest?: string | undefined;
  readonly images: CatalogImages;
  /** Name of the catalog's objects; absent: one made from the reference. */
  readonly name?: string | undefined;
  /** Repository and tag below the destination; in the style `oc-mirror`. */
  readonly target?: Target | undefined;
  /** The catalog is a selection: its image is to be built, not copied. */
  readonly selected?: boolean | undefined;
  /** Where the image was put that was built of a selection: it is copied from there. */
  readonly from?: string | undefined;
  /** The image holds a catalog and no program that serves it. */
  readonly serverless?: boolean | undefined;
  /** Platforms of the index image and of the catalog's images; absent: all. */
  readonly platforms?: Platforms;
}

export interface AdditionalImage extends Target {
  readonly reference: string;
  /** Absent: all. */
  readonly platforms?: Platforms;
  /** Where it is written, for an image of a chart. */
  readonly location?: Location;
  /** Where it was put, for the image of an update graph: the left side of its line in `mapping.txt`. */
  readonly from?: string;
}

export interface PlannedCatalog {
  readonly reference: string;
  readonly digest: string | undefined;
  readonly destination: Destination;
  readonly names: CatalogNames;
  readonly selected: boolean;
  /** Its image holds a catalog and no program that serves it. */
  readonly serverless?: boolean | undefined;
  readonly platforms: Platforms;
}
