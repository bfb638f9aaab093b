/**
 * Places images one by one, by the rules of a style, and keeps account of what has none.
 */
import type { Location } from '../finding.ts';
import { type Reference, tryParseReference } from '../reference.ts';
import type { CatalogImages } from './images.ts';
import { InvalidOption } from './invalid-option.ts';
import { parseOcReference } from './oc.ts';
import {
  digestTag,
  formatDestination,
  type ImageRole,
  type Naming,
  type Placement,
  type Unplaced,
} from './placement.ts';
import type { AdditionalImage, CatalogRequest, PlannedCatalog, PlanRequest } from './plan-request.ts';
import { catalogNames, type Style } from './style.ts';

/** A reference that cannot be mirrored. */
export interface MissingPlace extends Unplaced {
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
export class Placer {
  readonly placements: Placement[] = [];
  readonly unplaced: MissingPlace[] = [];
  readonly blocked: string[] = [];
  readonly #naming: Naming;
  readonly #request: PlanRequest;
  readonly #seen = new Set<string>();

  constructor(naming: Naming, request: PlanRequest) {
    this.#naming = naming;
    this.#request = request;
  }

  /** @throws InvalidOption when the index has no place: nothing can do without it */
  index(catalog: CatalogRequest, style: Style): PlannedCatalog {
    const { reference, digest, name, selected = false } = catalog;
    const written = indexText(reference);
    const wanted = indexReference(written, style);
    const found = this.#naming.place({ role: 'index', written, wanted, digest });
    if (typeof found === 'string') throw new InvalidOption(`the index image ${reference} ${found}`);
    const placed = placedIndex(found, catalog);
    if (!selected) this.placements.push(placed);
    const { destination } = placed;
    return {
      reference,
      digest,
      destination,
      names: catalogNames(style, reference, destination, name),
      selected,
    };
  }

  catalog(images: CatalogImages, style: Style): void {
    for (const { image, references } of images.bundles) {
      for (const reference of references) {
        this.#placeOf(images, reference, reference === image ? 'bundle' : 'related');
      }
    }
    for (const reference of images.others) this.#placeOf(images, reference, 'related');
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

  additional({ reference, tag }: AdditionalImage): void {
    if (this.#seen.has(reference)) return;
    const wanted = tryParseReference(reference);
    const placed = this.#place({ written: reference, role: 'additional', wanted, location: undefined });
    // A node asks for the tag that it was told, whatever the copy is called.
    if (!placed || tag === undefined || placed.wanted.kind === 'digest' || placed.wanted.tag === tag) return;
    this.placements.push({ ...placed, destination: { ...placed.destination, tag: placed.wanted.tag } });
  }

  #placeOf({ readable, doubtful }: CatalogImages, written: string, role: ImageRole): void {
    if (this.#seen.has(written)) return;
    this.#place({ written, role, wanted: readable.get(written), location: doubtful.get(written) });
  }

  #place({ written, role, wanted, location }: Request): Placement | undefined {
    this.#seen.add(written);
    const digest = this.#request.lock?.get(written);
    const placed = wanted
      ? this.#naming.place({ role, written, wanted, digest })
      : 'is not a reference that a node can pull';
    if (typeof placed === 'string') {
      this.unplaced.push({ role, written, why: placed, location });
      return undefined;
    }
    if (this.#isBlocked(placed)) {
      this.blocked.push(written);
      return undefined;
    }
    this.placements.push(placed);
    return placed;
  }

  #isBlocked({ written, destination }: Placement): boolean {
    const texts = [written, formatDestination(destination)];
    return (this.#request.blocked ?? []).some((pattern) => texts.some((text) => pattern.test(text)));
  }
}

/** The place of an index image, copied from where it really is. */
function placedIndex(found: Placement, { reference, digest, from }: CatalogRequest): Placement {
  if (from === undefined)
    return reference === found.written ? found : { ...found, written: reference, source: reference };
  const { wanted, destination } = found;
  const isNamed = wanted.kind === 'tag' || wanted.tag !== undefined || digest === undefined;
  // The tag of a digest would promise the whole catalog.
  const own = isNamed ? destination : { ...destination, tag: digestTag(digest) };
  return { ...found, written: reference, source: from, destination: own };
}

/** The index image by name: one in an OCI layout (`oci://DIRECTORY`) is called like its directory. */
export function indexText(reference: string): string {
  if (!reference.startsWith('oci://')) return reference;
  const directory = reference.replace(/\/+$/, '');
  return `${directory.slice(directory.lastIndexOf('/') + 1)}:latest`;
}

/** The index image as a node reads it; one in files as far as it can. */
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
