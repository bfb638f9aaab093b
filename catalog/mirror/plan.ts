import type { Location } from '../finding.ts';
import { fnvHex } from '../go/fnv.ts';
import { type Reference, tryParseReference } from '../reference.ts';
import type { Target } from './destination-names.ts';
import { groupImages, type ImageGroup } from './image-group.ts';
import type { CatalogSelection, ImageSet } from './image-set.ts';
import type { CatalogImages } from './images.ts';
import { InvalidOption } from './invalid-option.ts';
import type { Mapping } from './mapping.ts';
import { parseOcReference } from './oc.ts';
import {
  type Collision,
  digestTag,
  formatDestination,
  type ImageRole,
  type Naming,
  type Placement,
  settlePlacements,
  type Unplaced,
} from './placement.ts';
import type { AdditionalImage, CatalogRequest, PlannedCatalog, PlanRequest } from './plan-request.ts';
import { eitherPlatforms, type Platforms, withPlatforms } from './platforms.ts';
import type { Scope } from './scope.ts';
import { takesAll } from './select/image-set-filter.ts';
import {
  catalogNames,
  checkScope,
  defaultScope,
  type MirrorHome,
  namingOf,
  parseHome,
  type Style,
} from './style.ts';

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

// Places images one by one, by the rules of a style, and keeps account of what has none.

/** A reference that cannot be mirrored. */
interface MissingPlace extends Unplaced {
  /** Where it stands, when it stands in a catalog. */
  readonly location: Location | undefined;
}

/** A reference to place. */
interface Request {
  readonly written: string;
  readonly role: ImageRole;
  readonly wanted: Reference | undefined;
  readonly location: Location | undefined;
}

/** Places images one by one and keeps what came of it. */
class Placer {
  readonly placements: Placement[] = [];
  readonly unplaced: MissingPlace[] = [];
  readonly blocked: string[] = [];
  readonly #naming: Naming;
  readonly #request: PlanRequest;
  /** The references that were asked for, with the platforms of all who asked. */
  readonly #seen = new Map<string, Platforms>();

  constructor(naming: Naming, request: PlanRequest) {
    this.#naming = naming;
    this.#request = request;
  }

  /** What was placed, each for the platforms of all who need it. */
  placed(): Placement[] {
    return this.placements.map((placement) =>
      // An index image has its platforms from the catalog's request.
      placement.role === 'index'
        ? placement
        : { ...placement, ...withPlatforms(this.#seen.get(placement.written)) },
    );
  }

  /**
   * Places the index image of a catalog.
   *
   * @throws InvalidOption if it has no place, because the catalog is of no use without it
   */
  index(catalog: CatalogRequest, style: Style): PlannedCatalog {
    const { reference, digest, name, selected = false, platforms, serverless } = catalog;
    const written = indexText(reference);
    const wanted = indexReference(written, style);
    const found = this.#naming.place({ role: 'index', written, wanted, digest });
    if (typeof found === 'string') throw new InvalidOption(`the index image ${reference} ${found}`);
    const placed = placedIndex(found, catalog);
    if (!selected) this.placements.push({ ...placed, ...withPlatforms(platforms) });
    const { destination } = placed;
    return {
      reference,
      digest,
      destination,
      names: catalogNames(style, written, destination, name),
      selected,
      serverless,
      platforms,
    };
  }

  /** Places all images of a catalog that are not placed yet. */
  catalog({ images, platforms }: Pick<CatalogRequest, 'images' | 'platforms'>, style: Style): void {
    const place = (reference: string, role: ImageRole): void => {
      if (!this.#wasAskedFor(reference, platforms)) this.#placeOf(images, reference, role);
    };
    for (const { image, references } of images.bundles) {
      for (const reference of references) place(reference, reference === image ? 'bundle' : 'related');
    }
    for (const reference of images.others) place(reference, 'related');
    if (style !== 'oc-mirror') return;
    for (const location of images.empty) {
      this.unplaced.push({
        role: 'related',
        written: '',
        why: 'a related image without a reference',
        location,
      });
    }
  }

  /** Places an image that no catalog names. The image of an update graph is copied from where it was put. */
  additional({ reference, tag, platforms, location, from }: AdditionalImage): void {
    if (this.#wasAskedFor(reference, platforms)) return;
    const wanted = tryParseReference(reference);
    if (from !== undefined) {
      this.#place({ written: reference, role: 'graph', wanted, location }, from);
      return;
    }
    const placed = this.#place({ written: reference, role: 'additional', wanted, location });
    // A node asks for the tag that it was told, whatever the copy is called.
    if (!placed || tag === undefined || placed.wanted.kind === 'digest' || placed.wanted.tag === tag) return;
    this.placements.push({ ...placed, destination: { ...placed.destination, tag: placed.wanted.tag } });
  }

  /**
   * Notes the platforms for which a reference is asked for.
   *
   * @returns whether it was asked for before, and so has its place already
   */
  #wasAskedFor(written: string, platforms: Platforms): boolean {
    const isKnown = this.#seen.has(written);
    if (!isKnown) this.#seen.set(written, platforms);
    else if (this.#seen.get(written) !== platforms)
      this.#seen.set(written, eitherPlatforms(this.#seen.get(written), platforms));
    return isKnown;
  }

  #placeOf({ readable, doubtful }: CatalogImages, written: string, role: ImageRole): void {
    this.#place({ written, role, wanted: readable.get(written), location: doubtful.get(written) });
  }

  /**
   * Places one image, or notes why it has no place.
   *
   * @param from where the image is, if that is not where it is wanted from
   */
  #place({ written, role, wanted, location }: Request, from?: string): Placement | undefined {
    const digest = this.#request.lock?.get(written);
    const found = wanted
      ? this.#naming.place({ role, written, wanted, digest })
      : 'is not a reference that a node can pull';
    if (typeof found === 'string') {
      this.unplaced.push({ role, written, why: found, location });
      return undefined;
    }
    const placed = from === undefined ? found : { ...found, source: from };
    if (this.#isBlocked(placed)) {
      this.blocked.push(written);
      return undefined;
    }
    this.placements.push(placed);
    return placed;
  }

  /** Whether a pattern leaves an image out, by its reference or its destination. */
  #isBlocked({ written, destination }: Placement): boolean {
    const texts = [written, formatDestination(destination)];
    return (this.#request.blocked ?? []).some((pattern) => texts.some((text) => pattern.test(text)));
  }
}

/** The place of an index image, copied from where it really is. */
function placedIndex(found: Placement, { reference, digest, from }: CatalogRequest): Placement {
  // A name that `indexText` made for a directory gives way to what the request says.
  if (from === undefined)
    return reference === found.written ? found : { ...found, written: reference, source: reference };
  const { wanted, destination } = found;
  const isNamed = wanted.kind === 'tag' || wanted.tag !== undefined || digest === undefined;
  // The default tag, made of the digest of the whole catalog, would promise all of it.
  const own = isNamed ? destination : { ...destination, tag: digestTag(digest) };
  return { ...found, written: reference, source: from, destination: own };
}

/**
 * The index image by name: one in an OCI layout (`oci://DIRECTORY`) is called like its directory.
 *
 * @throws InvalidOption for a directory after which no image can be called
 */
function indexText(reference: string): string {
  if (!reference.startsWith('oci://')) return reference;
  const directory = reference.replace(/\/+$/, '');
  const name = directory.slice(directory.lastIndexOf('/') + 1);
  const text = `${name}:latest`;
  if (tryParseReference(text)) return text;
  throw new InvalidOption(
    `the mirror calls the index image of ${JSON.stringify(reference)} like its directory, but ${JSON.stringify(name)} is not a valid repository name: rename the directory, for example to catalog`,
  );
}

/**
 * The reference by which nodes name the index image, as far as one in files has a name.
 *
 * @throws InvalidOption for a text that is not a reference, or that lacks the tag or digest that the tools demand
 */
function indexReference(reference: string, style: Style): Reference {
  const text = style === 'oc' ? reference.replace(/^file:\/\/\/?/, '') : reference;
  const wanted = tryParseReference(text);
  if (!wanted) {
    throw new InvalidOption(
      `the index image is ${JSON.stringify(reference)}, expected REPOSITORY:TAG or REPOSITORY@DIGEST`,
    );
  }
  const { tag, digest } = parseOcReference(reference);
  if (style !== 'nested' && tag === '' && digest === '') {
    throw new InvalidOption(
      `the index image ${reference} has neither a tag nor a digest: use ${reference}:latest`,
    );
  }
  return wanted;
}
