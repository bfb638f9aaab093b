/**
 * A folder of a catalog while somebody edits it. Of each document only its outline and its own findings are kept, so that a
 * keystroke reads one document again, and the rules about whole packages.
 */

import { keepPlaces } from '../../../catalog/fbc/document.ts';
import { load } from '../../../catalog/fbc/load.ts';
import {
  type Blob,
  type Blobs,
  type Bundle,
  catalogOf,
  joinedBlobs,
  type Property,
} from '../../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding, Location } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { type World, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { OUTLINE } from '../../../catalog/olm/outline.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import {
  bundleChecker,
  ownSeverity,
  runCatalogChecks,
  runForesight,
  UndecidedRules,
  withSeverities,
} from '../../../catalog/rules/rule.ts';
import type { Undecided } from '../../../catalog/undecided.ts';
import type { Segment, SegmentedText } from './segmented-text.ts';

/** Shows what was found until now. */
type Show = (found: readonly Finding[]) => Promise<void>;

/** In place of a rule, where something could not be checked. */
export const UNCHECKED = 'not-checked';

/** What is known of one document. */
interface ReadSegment {
  readonly blobs: Blobs;
  readonly findings: readonly Finding[];
  readonly packages: ReadonlySet<string>;
}

/** The catalog in a folder: its texts as the editor has them, and what is known of each document. */
export class CatalogFolder {
  readonly #name: string;
  readonly #long: number;
  /** The documents, by the ids of their segments. */
  readonly #read = new Map<number, ReadSegment>();
  /** What the simulation of clusters found, by package. */
  readonly #foreseen = new Map<string, readonly Finding[]>();
  /** Files by the path that findings give them. */
  readonly files: Map<string, SegmentedText> = new Map();
  #world: World | undefined;
  #isWhole = true;
  #placesNow: Places | undefined;

  /**
   * @param name of the catalog, such as `v4.20`
   * @param long milliseconds after which somebody who waits should see what was found until then
   */
  constructor(name: string, long = 300) {
    this.#name = name;
    this.#long = long;
  }

  /**
   * Reads what changed and finds what is wrong.
   *
   * @param early gets what was found until then when reading takes long: in single documents, then in packages
   * @param all simulates clusters with all packages, not only with those that changed
   */
  async findings(early?: Show, all = false): Promise<Finding[]> {
    const start = performance.now();
    const changed = await this.#readChanged(early);
    const segments = this.#segments();
    const catalog = catalogOf(joinedBlobs(segments.flatMap(({ id }) => this.#read.get(id)?.blobs ?? [])));
    const places = this.#places();
    const own = [
      ...segments.flatMap(({ id }) => this.#read.get(id)?.findings ?? []),
      ...runCatalogChecks(catalog, RULES),
    ].map((finding) => placedFinding(finding, places));
    // Reading took long, and the simulation is still to come: what was found so far is shown first.
    if (own.length > 0 && performance.now() - start > this.#long) await early?.(own);
    const platform = minorOfCatalog(this.#name);
    const options = { name: this.#name, catalog, ...(platform ? { platform } : {}) };
    const packages = all
      ? new Set([...changed, ...catalog.packages.keys(), ...this.#foreseen.keys()])
      : changed;
    this.#isWhole = [...catalog.packages.keys()].every((name) => packages.has(name));
    const world = await worldOf({ ...options, packages });
    this.#world = world;
    for (const name of this.#foreseen.keys()) if (!catalog.packages.has(name)) this.#foreseen.delete(name);
    const { found, undecided } = foreseenFindings(world);
    // Packages that did not change keep what an earlier simulation found.
    for (const name of packages)
      this.#foreseen.set(name, [
        // What clusters do is always found of a package.
        ...found.filter((finding) => finding.package === name),
        ...(undecided ? [this.#unchecked(name, undecided)] : []),
      ]);
    const ofClusters = [...this.#foreseen.values()].flat();
    return [...own, ...ofClusters.map((finding) => placedFinding(finding, places))];
  }

  /** Whether the last findings tell what the change of one package does to others, too. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The catalog as it was when findings were last asked for. */
  get world(): World | undefined {
    return this.#world;
  }

  /** The blobs of the document at a line of a file. */
  blobsAt(file: string, line: number): Blobs | undefined {
    const segment = this.files.get(file)?.at(line).segment;
    return segment && this.#read.get(segment.id)?.blobs;
  }

  /** Where a field of a blob is in the files; the last steps that are not there are left out. */
  placeOf(blob: Blob, ...path: readonly (string | number)[]): Location | undefined {
    return placeInFile(blob.document.locate(path), this.#places());
  }

  /** At the first document of a package, what could not be found out of it. */
  #unchecked(name: string, { message }: Undecided): Finding {
    const first = this.#segments().find(({ id }) => this.#read.get(id)?.packages.has(name));
    const location = { file: `segment-${first?.id}`, line: 1, column: 1 };
    return { rule: UNCHECKED, severity: 'warning', message, package: name, location };
  }

  /** The documents of all files, in the order of the files. */
  #segments(): Segment[] {
    return [...this.files.values()].flatMap(({ segments }) => segments);
  }

  /** Reads the documents that changed. @returns the packages of documents that are new or gone */
  async #readChanged(early?: Show): Promise<Set<string>> {
    const start = performance.now();
    let isEarly = early !== undefined;
    const fresh: Finding[] = [];
    this.#placesNow = undefined;
    const changed = new Set<string>();
    const segments = this.#segments();
    const ids = new Set(segments.map(({ id }) => id));
    for (const [id, { packages }] of this.#read) {
      if (ids.has(id)) continue;
      for (const name of packages) changed.add(name);
      this.#read.delete(id);
    }
    for (const segment of segments) {
      if (this.#read.has(segment.id)) continue;
      const read = await readSegment(segment);
      for (const name of read.packages) changed.add(name);
      this.#read.set(segment.id, read);
      for (const finding of read.findings) fresh.push(finding);
      if (!isEarly || fresh.length === 0 || performance.now() - start < this.#long) continue;
      isEarly = false;
      await early?.(fresh.map((finding) => placedFinding(finding, this.#places())));
    }
    return changed;
  }

  /** Where each document is; found once after each change. */
  #places(): Places {
    this.#placesNow ??= this.#findPlaces();
    return this.#placesNow;
  }

  /** Where each segment starts now: edits move segments, so findings name a segment and not a line. */
  #findPlaces(): Places {
    const all = [...this.files].flatMap(([file, text]) =>
      [...text.starts()].map(([id, line]) => [id, { file, line }] as const),
    );
    return new Map(all);
  }
}

/** Simulates clusters. If a rule gives up, the findings are those until then, and `undecided` says why. */
function foreseenFindings(world: World): {
  readonly found: readonly Finding[];
  readonly undecided?: Undecided;
} {
  try {
    return { found: runForesight(world, RULES) };
  } catch (error) {
    if (!(error instanceof UndecidedRules)) throw error;
    return { found: error.findings, undecided: error };
  }
}

/** How the place of a document's line is written before the document's own place is known. */
const SEGMENT_PLACE = /segment-(\d+)(?::(\d+))?/g;

/** The file of each document, and the line at which the document starts, counted from 0. */
type Places = ReadonlyMap<number, { readonly file: string; readonly line: number }>;

/** A finding about a segment with its places in the file, in its message too. */
function placedFinding(finding: Finding, places: Places): Finding {
  const { correction } = finding;
  const at = correction && placeInFile(correction.location, places);
  return {
    ...finding,
    message: finding.message.replaceAll(SEGMENT_PLACE, (text, id: string, line: string | undefined) => {
      const place = placeInFile({ file: `segment-${id}`, line: Number(line ?? 1), column: 1 }, places);
      return place ? `${place.file}${line === undefined ? '' : `:${place.line}`}` : text;
    }),
    location: placeInFile(finding.location, places) ?? finding.location,
    ...(correction && at ? { correction: { ...correction, location: at } } : {}),
  };
}

/** A place in a segment as a place in its file; undefined if the segment is gone, or the place is not of a segment. */
function placeInFile({ file, line, column }: Location, places: Places): Location | undefined {
  const place = places.get(Number(/^segment-(\d+)$/.exec(file)?.[1]));
  return place && { file: place.file, line: place.line + line, column };
}

/** Reads one document: its blobs in outline, its own findings, and the packages that it is about. */
async function readSegment({ id, text }: Segment): Promise<ReadSegment> {
  const findings: Finding[] = [];
  const checkBundle = bundleChecker(RULES, ownSeverity, findings);
  const bytes = new TextEncoder().encode(text);
  const source = { files: () => Promise.resolve([{ path: `segment-${id}`, read: () => bytes }]) };
  const { blobs, findings: unread } = await load(source, undefined, {
    bundle: (bundle) => {
      checkBundle(bundle);
      return outlinedBundle(bundle);
    },
  });
  const { packages, channels, bundles, deprecations } = blobs;
  const names = [
    ...packages.map(({ name }) => name),
    ...[...channels, ...bundles, ...deprecations].map((blob) => blob.package),
  ];
  return {
    blobs,
    findings: [...findings, ...withSeverities(unread, RULES, ownSeverity)],
    packages: new Set(names),
  };
}

/** A bundle without its manifests, with the places that findings about it name. */
function outlinedBundle(bundle: Bundle): Bundle {
  // The rules that look at outlines name these places; all others would stay in memory for nothing.
  const paths = bundle.properties.flatMap((_, i) => [
    ['properties', i],
    ['properties', i, 'type'],
    ['properties', i, 'value'],
    ['properties', i, 'value', 'version'],
  ]);
  const images = bundle.relatedImages.map((_, i) => ['relatedImages', i, 'image']);
  const fields = [['name'], ['package'], ['image'], ['properties'], ...images];
  const document = keepPlaces(bundle.document, [...fields, ...paths]);
  const { properties, ...outline } = OUTLINE.bundle(bundle);
  const outlines = properties.map((property, i) => metadataOutline(bundle.properties[i]) ?? property);
  return { ...outline, document, properties: outlines, relatedImages: bundle.relatedImages };
}

/** Of a ClusterServiceVersion's metadata what decides whether OLM v1 can install it; undefined for other properties. */
function metadataOutline(property: Property | undefined): Property | undefined {
  if (property?.type !== 'olm.csv.metadata' || !isObject(property.value)) return undefined;
  const { installModes, apiServiceDefinitions } = property.value;
  return { type: property.type, value: { installModes, apiServiceDefinitions } };
}
