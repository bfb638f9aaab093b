import { fnvHex } from '../go/fnv.ts';
import type { Target } from './destination-names.ts';
import { groupImages, type ImageGroup } from './image-group.ts';
import type { CatalogSelection, ImageSet } from './image-set.ts';
import type { Mapping } from './mapping.ts';
import { type Collision, formatDestination, type Placement, settlePlacements } from './placement.ts';
import { indexText, type MissingPlace, Placer } from './placer.ts';
import type { CatalogRequest, PlannedCatalog, PlanRequest } from './plan-request.ts';
import { withPlatforms } from './platforms.ts';
import type { Scope } from './scope.ts';
import { takesAll } from './select/image-set-filter.ts';
import { checkScope, defaultScope, type MirrorHome, namingOf, parseHome, type Style } from './style.ts';

export interface MirrorPlan {
  readonly style: Style;
  readonly home: MirrorHome;
  /** How wide the entries of ImageDigestMirrorSets and ImageTagMirrorSets reach. */
  readonly scope: Scope;
  /** How wide the entries of ImageContentSourcePolicies reach. */
  readonly policyScope: Scope;
  readonly catalogs: readonly PlannedCatalog[];
  /** Sorted; no destination twice. */
  readonly placements: readonly Placement[];
  readonly unplaced: readonly MissingPlace[];
  /** Tags that several images would have shared; each image has one of its own now. */
  readonly collisions: readonly Collision[];
  /** References that were left out on purpose. */
  readonly blocked: readonly string[];
}

/**
 * Plans a mirror.
 *
 * @throws InvalidOption
 */
export function planMirror(request: PlanRequest): MirrorPlan {
  const { style = 'nested', catalogs } = request;
  const home = parseHome(request.to);
  const scope = request.scope ?? defaultScope(style, request.maxComponents);
  const policyScope = request.policyScope ?? scope;
  checkScope(style, scope);
  checkScope(style, policyScope);
  const naming = namingOf({
    style,
    home,
    maxComponents: request.maxComponents,
    indexes: catalogs.map(({ reference }) => indexText(reference)),
    targets: targetsOf(request),
  });
  const placer = new Placer(naming, request);
  const indexes = catalogs.map((catalog) => placer.index(catalog, style));
  for (const catalog of catalogs) placer.catalog(catalog, style);
  for (const image of request.additional ?? []) placer.additional(image);
  const { placements, collisions, unplaced } = settlePlacements(placer.placed());
  return {
    style,
    home,
    scope,
    policyScope,
    catalogs: indexes,
    placements,
    unplaced: [...placer.unplaced, ...unplaced.map((one) => ({ ...one, location: undefined }))],
    collisions,
    blocked: placer.blocked,
  };
}

/**
 * The request for what an ImageSetConfiguration selects.
 *
 * @param images of each of its catalogs, in its order, as far as they are selected
 * @param groups the images of its charts
 */
export function imageSetRequest(
  { catalogs, additional, blocked }: ImageSet,
  images: readonly SelectedImages[],
  groups: readonly ImageGroup[] = [],
): Pick<PlanRequest, 'catalogs' | 'additional' | 'blocked'> {
  const requests = catalogs.flatMap((selection, i): CatalogRequest[] => {
    const { catalog, targetCatalog, targetTag } = selection;
    const chosen = images[i];
    if (!chosen) return [];
    const selected = !takesAll(selection);
    // The default tag, made of the digest of the whole catalog, would promise all of it.
    const tag = targetTag ?? (selected && catalog.includes('@') ? selectionTag(selection) : undefined);
    const target = {
      ...(targetCatalog === undefined ? {} : { repository: targetCatalog }),
      ...(tag === undefined ? {} : { tag }),
    };
    const isToBuild = selected && chosen.from === undefined;
    return [
      { reference: catalog, ...chosen, target, selected: isToBuild, ...withPlatforms(selection.platforms) },
    ];
  });
  return { catalogs: requests, additional: [...additional, ...groupImages(groups)], blocked };
}

/** A tag for what was selected of a catalog, the same for the same selection. */
function selectionTag({ full, packages }: CatalogSelection): string {
  return `selection-${fnvHex(JSON.stringify([full, packages]))}`;
}

/** What a catalog of an ImageSetConfiguration needs. */
type SelectedImages = Pick<CatalogRequest, 'digest' | 'images' | 'from' | 'serverless'>;

/** The lines of `mapping.txt`, sorted. */
export function mappingsOf(plan: MirrorPlan): Mapping[] {
  return plan.placements.map(({ source, destination, platforms }) => ({
    source,
    destination: formatDestination(destination),
    ...withPlatforms(platforms),
  }));
}

/** The places below the destination that are asked for, by reference. */
function targetsOf({ catalogs, additional = [] }: PlanRequest): Map<string, Target> {
  const targets = new Map<string, Target>();
  for (const { reference, target } of catalogs) if (target) targets.set(indexText(reference), target);
  for (const { reference, repository, tag } of additional) {
    targets.set(reference, {
      ...(repository === undefined ? {} : { repository }),
      ...(tag === undefined ? {} : { tag }),
    });
  }
  return targets;
}
