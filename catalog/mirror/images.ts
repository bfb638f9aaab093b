/**
 * The image references of a catalog: which there are, and which bundle needs them.
 * Read blob by blob, so that a catalog of any size passes through.
 */

import { visitBlobs } from '../fbc/load.ts';
import type { Blob, Blobs, Bundle } from '../fbc/model.ts';
import type { Finding, Location } from '../finding.ts';
import { fitStruct, isObject, listOf, structShape, text } from '../go/shape.ts';
import { ownText } from '../go/text.ts';
import { type Reference, tryParseReference } from '../reference.ts';
import { csvOf, usedImages } from '../references/csv.ts';
import type { CatalogSource } from '../source.ts';
import { withoutProperties } from './trim.ts';

/** What a bundle needs to be installed and to run. */
interface BundleImages {
  readonly package: string;
  readonly name: string;
  /** The bundle's own image, as written; empty where the bundle carries its manifests itself. */
  readonly image: string;
  /**
   * Every reference of the bundle as written, each once, empty ones left out: its own image, `relatedImages`, then what
   * only deployments and their `RELATED_IMAGE_…` variables name, as far as the catalog holds the manifests.
   */
  readonly references: readonly string[];
  /** Whether the deployments are known: `olm.csv.metadata` leaves them out, and with them what variables name. */
  readonly hasDeployments: boolean;
  /** Where the bundle begins. */
  readonly location: Location;
}

export interface CatalogImages {
  /** In the order of loading, bundles of equal names included. */
  readonly bundles: readonly BundleImages[];
  /** References of the blobs that are not bundles: schemas of other tools may name images too. */
  readonly others: readonly string[];
  /** The references as a node reads them; those that it cannot read are missing. */
  readonly readable: ReadonlyMap<string, Reference>;
  /** Where the references stand that a node cannot read, or that name neither tag nor digest. */
  readonly doubtful: ReadonlyMap<string, Location>;
  /** Where related images without a reference stand. */
  readonly empty: readonly Location[];
  /** What could not be read of the catalog. */
  readonly findings: readonly Finding[];
}

const ANY_BLOB = structShape('declcfgMeta', {
  image: text,
  relatedImages: listOf(structShape('declcfgRelatedImage', { name: text, image: text })),
});

/** Fields with images, in any case, as Go matches them: most blobs other than bundles have none. */
const NAMES_IMAGES = /^(?:image|relatedImages)$/iu;

/** Finds the images that the deployments of a bundle run or name; undefined where nobody knows its deployments. */
export type DeployedImages = (bundle: Bundle) => readonly string[] | undefined;

/**
 * Reads the references of a catalog. Nothing else of it is kept in memory, and what is
 * wrong inside of properties is not looked for.
 *
 * @param deployed asked for bundles whose deployments the catalog does not hold
 */
export async function catalogImages(
  source: CatalogSource,
  deployed?: DeployedImages,
): Promise<CatalogImages> {
  // `deployed` looks bundles up by the versions in their properties, so these stay.
  if (deployed) return collectImages(source, deployed);
  const images = await collectImages(withoutProperties(source));
  // What was left out may change what is reported, and where: then the whole text is read.
  const isSound = images.findings.length + images.doubtful.size + images.empty.length === 0;
  return isSound ? images : collectImages(source);
}

/** Reads the references of a catalog, blob by blob. */
async function collectImages(source: CatalogSource, deployed?: DeployedImages): Promise<CatalogImages> {
  const collector = new Collector(deployed);
  const findings = await visitBlobs(source, {
    bundle: (bundle) => collector.addBundle(bundle),
    other: (blob) => collector.addOther(blob),
  });
  return { ...collector.images(), findings };
}

/**
 * The references of blobs that are loaded already.
 *
 * @param deployed asked for bundles whose deployments the catalog does not hold
 */
export function imagesOf(blobs: Blobs, deployed?: DeployedImages): CatalogImages {
  const collector = new Collector(deployed);
  for (const bundle of blobs.bundles) collector.addBundle(bundle);
  for (const blob of [...blobs.packages, ...blobs.channels, ...blobs.deprecations, ...blobs.others]) {
    collector.addOther(blob);
  }
  return { ...collector.images(), findings: [] };
}

/** Each manifest is decoded once. The key is the blob's value, which copies of a bundle share. */
const runningByValue = new WeakMap<object, { readonly images: readonly string[] | undefined }>();

/** Images that the deployments of a bundle run; undefined where the catalog does not hold its ClusterServiceVersion. */
function runningImages(bundle: Bundle): readonly string[] | undefined {
  let found = runningByValue.get(bundle.value);
  if (!found) {
    const csv = csvOf(bundle);
    found = { images: csv && usedImages(csv).map(({ image }) => image) };
    runningByValue.set(bundle.value, found);
  }
  return found.images;
}

class Collector {
  readonly #bundles: BundleImages[] = [];
  readonly #others = new Set<string>();
  readonly #readable = new Map<string, Reference>();
  readonly #doubtful = new Map<string, Location>();
  readonly #empty: Location[] = [];
  /** One copy of each text, whatever it is: a name, or a reference. */
  readonly #texts = new Map<string, string>();
  readonly #deployed: DeployedImages;

  constructor(deployed: DeployedImages = () => undefined) {
    this.#deployed = deployed;
  }

  images(): Omit<CatalogImages, 'findings'> {
    return {
      bundles: this.#bundles,
      others: [...this.#others],
      readable: this.#readable,
      doubtful: this.#doubtful,
      empty: this.#empty,
    };
  }

  /** Notes a bundle with every image that it needs: its own, those in relatedImages, and those of its deployments. */
  addBundle(bundle: Bundle): void {
    const references = new Set<string>();
    if (bundle.image !== '') references.add(this.#reference(bundle.image, bundle, ['image']));
    for (const [i, { image }] of bundle.relatedImages.entries()) {
      if (image !== '') references.add(this.#reference(image, bundle, ['relatedImages', i, 'image']));
      else this.#empty.push(bundle.document.locate(['relatedImages', i]));
    }
    // What the installed operator runs is pulled, whether relatedImages lists it or not.
    const running = runningImages(bundle) ?? this.#deployed(bundle);
    for (const image of running ?? []) references.add(this.#reference(image, bundle, ['relatedImages']));
    this.#bundles.push({
      package: this.#own(bundle.package),
      name: this.#own(bundle.name),
      image: this.#own(bundle.image),
      references: [...references],
      hasDeployments: running !== undefined,
      location: { file: bundle.document.file, line: bundle.document.line, column: 1 },
    });
  }

  /** Notes the images that a blob of another schema names. Most name none, and are not looked into. */
  addOther(blob: Blob): void {
    if (!Object.keys(blob.value).some((key) => NAMES_IMAGES.test(key))) return;
    const { value } = fitStruct(blob.value, ANY_BLOB);
    const { image, relatedImages } = value;
    if (typeof image === 'string' && image !== '') this.#others.add(this.#reference(image, blob, ['image']));
    if (!Array.isArray(relatedImages)) return;
    for (const [i, related] of relatedImages.entries()) {
      const reference: unknown = isObject(related) ? related['image'] : undefined;
      if (typeof reference !== 'string' || reference === '') continue;
      this.#others.add(this.#reference(reference, blob, ['relatedImages', i, 'image']));
    }
  }

  /** Notes a reference; looks at it once only, wherever else it stands. */
  #reference(written: string, blob: Blob, path: readonly (string | number)[]): string {
    const own = this.#own(written);
    if (this.#readable.has(own) || this.#doubtful.has(own)) return own;
    const reference = tryParseReference(own);
    if (reference) this.#readable.set(own, reference);
    if (isDoubtful(own, reference)) this.#doubtful.set(own, blob.document.locate(path));
    return own;
  }

  /** The text as a string of its own: a slice would keep the whole file in memory. */
  #own(written: string): string {
    const known = this.#texts.get(written);
    if (known !== undefined) return known;
    const own = ownText(written);
    this.#texts.set(own, own);
    return own;
  }
}

/** Whether a node cannot read a reference, or has to guess the tag. */
function isDoubtful(written: string, reference: Reference | undefined): boolean {
  return reference === undefined || (reference.kind === 'tag' && !written.endsWith(`:${reference.tag}`));
}
