/**
 * What changes in a mirror from one plan to the next: what to add, what stays, what
 * nobody needs any longer.
 */
import { compareText } from '../go/text.ts';
import { oneRegistry, tryParseReference } from '../reference.ts';
import { objectText } from './kubernetes-object.ts';
import type { Mapping } from './mapping.ts';
import type { ImageRole } from './placement.ts';
import { samePlatforms } from './platforms.ts';

/** A mapping, and what its image is to the catalog where that is known. */
export interface PlannedMapping extends Mapping {
  readonly role?: ImageRole | undefined;
}

export interface MirrorDiff {
  readonly add: readonly PlannedMapping[];
  /** Tags that get another image, or other platforms of it. */
  readonly change: readonly ChangedMapping[];
  readonly unchanged: readonly PlannedMapping[];
  /** Tags that may go. */
  readonly prune: readonly PlannedMapping[];
  /**
   * Tags that the new plan does not copy to and that stay: the image is needed under another tag, and deleting one
   * deletes both, or the tag waits for the index image of a selection.
   */
  readonly keep: readonly PlannedMapping[];
}

interface ChangedMapping extends PlannedMapping {
  /** Where the tag's image came from before. */
  readonly before: string;
}

/**
 * Compares the mappings of two plans; each list is sorted by destination.
 *
 * @param awaited destinations that the new plan's documents name and nothing is copied to
 */
export function diffMirrors(
  before: readonly PlannedMapping[],
  after: readonly PlannedMapping[],
  awaited: ReadonlySet<string> = new Set(),
): MirrorDiff {
  const old = new Map(before.map((mapping) => [oneSpelling(mapping.destination), mapping]));
  const now = new Set(after.map(({ destination }) => oneSpelling(destination)));
  const neededManifests = new Set(after.map(manifestKey));
  const waiting = new Set([...awaited].map(oneSpelling));
  const isNeeded = (mapping: PlannedMapping): boolean =>
    neededManifests.has(manifestKey(mapping)) || waiting.has(oneSpelling(mapping.destination));
  const goneMappings = byDestination(before).filter(({ destination }) => !now.has(oneSpelling(destination)));
  const diff = {
    add: [] as PlannedMapping[],
    change: [] as ChangedMapping[],
    unchanged: [] as PlannedMapping[],
  };
  for (const mapping of byDestination(after)) {
    const known = old.get(oneSpelling(mapping.destination));
    if (!known) diff.add.push(mapping);
    else if (known.source === mapping.source && samePlatforms(known.platforms, mapping.platforms))
      diff.unchanged.push(mapping);
    else diff.change.push({ ...mapping, before: known.source });
  }
  return {
    ...diff,
    prune: goneMappings.filter((mapping) => !isNeeded(mapping)),
    keep: goneMappings.filter(isNeeded),
  };
}

/** A destination, equal for all spellings of its registry. */
function oneSpelling(destination: string): string {
  return destination.replace(/^[^/]+/, oneRegistry);
}

function byDestination(mappings: readonly PlannedMapping[]): PlannedMapping[] {
  return [...mappings].sort((a, b) => compareText(a.destination, b.destination));
}

/** Names the manifest in its repository: many registries delete a manifest only with all its tags. One source is one manifest. */
function manifestKey({ source, destination }: Mapping): string {
  const image = tryParseReference(source);
  const repository = oneSpelling(destination.slice(0, destination.lastIndexOf(':')));
  return image?.kind === 'digest' ? `${repository}@${image.digest}` : `${repository}=${source}`;
}

/** oc-mirror's names for what an image is. */
const TYPES: Readonly<Record<ImageRole, string>> = {
  index: 'operatorCatalog',
  bundle: 'operatorBundle',
  related: 'operatorRelatedImage',
  additional: 'generic',
  graph: 'cincinnatiGraph',
};

/**
 * oc-mirror's `delete-images.yaml`, sorted by what is deleted.
 *
 * @see https://github.com/openshift/oc-mirror/blob/main/internal/pkg/delete/delete_images.go
 */
export function deleteImagesText(mappings: readonly PlannedMapping[]): string {
  const list = {
    apiVersion: 'mirror.openshift.io/v2alpha1',
    // A `mapping.txt` does not say what an image is; to oc-mirror, most are related images.
    items: byDestination(mappings).map(({ source, destination, role = 'related' }) => ({
      imageName: `docker://${source}`,
      imageReference: `docker://${destination}`,
      type: TYPES[role],
    })),
    kind: 'DeleteImageList',
  };
  return objectText(list);
}
