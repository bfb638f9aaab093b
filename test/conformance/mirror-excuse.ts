// The chosen differences: where a real tool is wrong, and how one sees it in the case's
// input or in what was recorded. Each row has its explanation in docs/from-oc-mirror.md.

import { isObject } from '../../catalog/go/shape.ts';
import { nodeConfig, pullOnNode } from '../../catalog/mirror/node/node.ts';
import { wantedRepository } from '../../catalog/mirror/placement.ts';
import { mirrorRules, readObjects } from '../../catalog/mirror/read.ts';
import { contentsOf } from '../../catalog/mirror/readiness.ts';
import type { MirrorEntry } from '../../catalog/mirror/scope.ts';
import { repositoryName, tryParseReference } from '../../catalog/reference.ts';
import type { MirrorCase, Run } from './mirror-run.ts';

export type Row =
  | 'bundle images'
  | 'bundles of one name'
  | 'cache'
  | 'destination without a host'
  | 'Docker Hub'
  | 'empty names'
  | 'entries that lead astray'
  | 'files'
  | 'invalid names'
  | 'one tag for two images'
  | 'provenance'
  | 'renamed tags'
  | 'rebuilt catalogs'
  | 'spellings'
  | 'tags too long'
  | 'unreadable references';

/** A line of `mapping.txt`; source and destination without `docker://`. */
export interface Line {
  readonly text: string;
  readonly source: string;
  readonly destination: string;
}

interface Recorded {
  readonly lines: readonly Line[];
  readonly documents: string;
}

export class Excuses {
  readonly #case: MirrorCase;
  readonly #ours: Run;
  readonly #recorded: Recorded;
  /** Destinations that the recorded mapping gives to several sources, and the repositories of these. */
  readonly #shared: ReadonlySet<string>;
  readonly #colliding: ReadonlySet<string>;
  readonly #lost = new Map<string, Row>();
  /** By repository, as a node asks for it. */
  readonly #added = new Map<string, Row>();
  /** By the name under which a node would look. */
  readonly #lostEntries = new Map<string, Row>();

  constructor(one: MirrorCase, ours: Run, recorded: Recorded) {
    this.#case = one;
    this.#ours = ours;
    this.#recorded = recorded;
    const sources = new Map<string, Set<string>>();
    for (const { source, destination } of recorded.lines) {
      sources.set(destination, (sources.get(destination) ?? new Set()).add(source));
    }
    this.#shared = new Set(
      [...sources].filter(([, from]) => from.size > 1).map(([destination]) => destination),
    );
    this.#colliding = new Set(
      recorded.lines
        .filter(({ destination }) => this.#shared.has(destination))
        .map(({ source }) => askedName(source)),
    );
  }

  /** Why a recorded line is not ours. */
  lostLine(line: Line): Row | undefined {
    const row = this.#whyLost(line);
    if (row !== undefined) this.#lost.set(line.source, row);
    return row;
  }

  #whyLost({ source, destination }: Line): Row | undefined {
    const hasCache = this.#case.command[0] === 'oc-mirror';
    if (hasCache && (isCache(source) || isCache(destination))) return 'cache';
    if (source.startsWith('file://')) return 'files';
    // A short name with a dot in it, which oc takes for a host.
    if (source === '') return 'Docker Hub';
    if (!source.startsWith('oci://') && !tryParseReference(source)) return 'unreadable references';
    if (this.#unreadable().some((written) => source.includes(written))) return 'unreadable references';
    if (destination === '' || destination.includes('//')) return 'empty names';
    if (!hasHost(destination)) return 'destination without a host';
    if (this.#colliding.has(askedName(source))) return 'one tag for two images';
    if (!hasHost(source) || askedName(source) !== nameOf(source)) return 'Docker Hub';
    if (tagOf(destination).length > 128) return 'tags too long';
    return this.#spellings(source) > 1 ? 'spellings' : undefined;
  }

  /** What the catalogs write that no node can read. */
  #unreadable(): string[] {
    const doubtful = this.#ours.images.flatMap((images) => [...images.doubtful.keys()]);
    return doubtful.filter((written) => !tryParseReference(written));
  }

  /** In how many ways the catalogs write an image. */
  #spellings(source: string): number {
    const references = this.#ours.images.flatMap(({ bundles, others }) => [
      ...bundles.flatMap((bundle) => bundle.references),
      ...others,
    ]);
    return new Set(references.filter((reference) => normal(reference) === normal(source))).size;
  }

  /** Why a line of ours was not recorded. */
  addedLine(line: Line): Row | undefined {
    const row = this.#whyAdded(line);
    if (row !== undefined) this.#added.set(askedName(line.source), row);
    return row;
  }

  #whyAdded({ source, destination }: Line): Row | undefined {
    // oc-mirror puts a slash before the missing host of a short name.
    const row =
      this.#lost.get(source) ??
      this.#lost.get(`/${source}`) ??
      (isDotted(source) ? this.#lost.get('') : undefined);
    if (row !== undefined) return row;
    const repository = destination.slice(0, destination.lastIndexOf(':'));
    const renamed = this.#recorded.lines.some(
      (line) => line.source === source && line.destination.startsWith(`${repository}:`),
    );
    if (renamed) return 'renamed tags';
    return this.#unseen(source);
  }

  /** What oc-mirror never looks at: bundles whose name is taken, bundle images that are not listed. */
  #unseen(source: string): Row | undefined {
    const bundles = this.#ours.images.flatMap((images) => images.bundles);
    const holders = bundles.filter(({ references }) =>
      references.some((reference) => normal(reference) === normal(source)),
    );
    const names = bundles.map(({ name }) => name);
    const isTaken = (name: string): boolean => names.filter((other) => other === name).length > 1;
    if (holders.some(({ name }) => isTaken(name))) return 'bundles of one name';
    const unlisted = this.#ours.bundles.some(
      ({ image, relatedImages }) =>
        normal(image) === normal(source) &&
        !relatedImages.some((related) => normal(related.image) === normal(source)),
    );
    return unlisted ? 'bundle images' : undefined;
  }

  /** Why a recorded entry is not ours. */
  lostEntry(kind: string, entry: MirrorEntry): Row | undefined {
    const row = this.#whyLostEntry(kind, entry);
    const probe = tryParseReference(`${entry.source}/probe`);
    if (row !== undefined && probe)
      this.#lostEntries.set(repositoryName(probe).slice(0, -'/probe'.length), row);
    return row;
  }

  #whyLostEntry(kind: string, { source, mirrors }: MirrorEntry): Row | undefined {
    if (!isAsked(source)) return 'Docker Hub';
    if (mirrors.some((mirror) => mirror === '' || mirror.includes('//'))) return 'empty names';
    if (mirrors.some((mirror) => !isHost(mirror))) return 'destination without a host';
    if ([...this.#colliding].some((repository) => isBelow(repository, source)))
      return 'one tag for two images';
    const lines = this.#linesFor(kind, source);
    if (lines.some((line) => line.source.startsWith('file://'))) return 'files';
    const row = lines.map((line) => this.#lost.get(line.source)).find((why) => why !== undefined);
    if (row !== undefined) return row;
    if (!this.#ours.plan.placements.some((one) => isBelow(wantedRepository(one), source)))
      return 'Docker Hub';
    const leads = (line: Line): boolean =>
      mirrors.some((mirror) =>
        line.destination.startsWith(`${mirror}${nameOf(line.source).slice(source.length)}:`),
      );
    const astray = lines.some((line) => !leads(line)) || this.#losesImage(kind, source);
    return astray ? 'entries that lead astray' : undefined;
  }

  /** The recorded lines that an entry is for: those of its repository, else those below it. */
  #linesFor(kind: string, source: string): readonly Line[] {
    const lines = this.#recorded.lines.filter((line) => kindOf(line.source) === kindOf(kind));
    const own = lines.filter((line) => nameOf(line.source) === source);
    return own.length > 0 ? own : lines.filter((line) => isBelow(line.source, source));
  }

  /** Why an entry of ours was not recorded: without it a node does not find an image. */
  addedEntry(kind: string, source: string, rows: ReadonlySet<Row>): Row | undefined {
    const added = [...this.#added].find(([repository]) => isBelow(repository, source))?.[1];
    const row = this.#lostEntries.get(source) ?? added;
    if (row !== undefined) return row;
    if (this.#colliding.has(source)) return 'one tag for two images';
    if (!this.#losesImage(kind, source)) return undefined;
    const order: readonly Row[] = [
      'one tag for two images',
      'Docker Hub',
      'bundles of one name',
      'bundle images',
      'destination without a host',
      'empty names',
      'files',
    ];
    return order.find((row) => rows.has(row)) ?? 'entries that lead astray';
  }

  /** Whether a node with the recorded documents of a kind misses an image below a source. */
  #losesImage(kind: string, source: string): boolean {
    // Each kind has to do without the other: a cluster is given one of them.
    const objects = readObjects(this.#recorded.documents, 'recorded.yaml').objects;
    const config = nodeConfig(mirrorRules(objects.filter((object) => object.kind === kind)).rules);
    const contents = contentsOf(this.#recorded.lines);
    return this.#ours.plan.placements.some((placement) => {
      if (!isBelow(wantedRepository(placement), source)) return false;
      if ((placement.wanted.kind === 'tag') !== (kindOf(kind) === 'tag')) return false;
      const asked = pullOnNode(config, placement.written);
      return 'refused' in asked || !asked.asked.some((place) => contents.has(place, placement.written));
    });
  }

  /** Why there is no object of a kind. */
  lostObjects(): Row | undefined {
    return /error creating (catalog source|cluster catalog) name/.test(this.#case.printed)
      ? 'invalid names'
      : undefined;
  }

  /** Why an object of a name is another. */
  otherObject(value: Readonly<Record<string, unknown>>): Row | undefined {
    const spec = isObject(value['spec']) ? value['spec'] : {};
    const { image, source } = spec;
    const nested = isObject(source) && isObject(source['image']) ? source['image']['ref'] : undefined;
    const reference = typeof image === 'string' ? image : typeof nested === 'string' ? nested : '';
    if (reference.includes('//')) return 'empty names';
    // A digest that is none: the hash of what was selected.
    if (/:sha256-[0-9a-f]{32}$/.test(reference)) return 'rebuilt catalogs';
    if (this.#recorded.lines.some((line) => line.source.startsWith('file://'))) return 'files';
    return hasHost(reference) ? undefined : 'destination without a host';
  }
}

/** oc-mirror's registry of its own. */
function isCache(reference: string): boolean {
  return /^localhost:\d+\//.test(reference);
}

/** Whether a name begins with a host as nodes see it. */
function hasHost(reference: string): boolean {
  return reference.includes('/') && isHost(reference);
}

/** Whether the first part of a location is a host as nodes see it. */
function isHost(reference: string): boolean {
  const first = reference.split('/', 1)[0] ?? '';
  return /[.:]/.test(first) || first === 'localhost';
}

/** Whether nodes ask for names under this source as it is written. */
function isAsked(source: string): boolean {
  const probe = tryParseReference(`${source}/probe`);
  return probe !== undefined && repositoryName(probe) === `${source}/probe`;
}

function nameOf(reference: string): string {
  const name = reference.split('@', 1)[0] ?? '';
  const colon = name.lastIndexOf(':');
  return colon > name.indexOf('/') ? name.slice(0, colon) : name;
}

/** A single part with a dot, on Docker Hub. */
function isDotted(source: string): boolean {
  return /^docker\.io\/library\/[^/:]*\./.test(source);
}

/** The repository that a node asks for. */
function askedName(reference: string): string {
  const parsed = tryParseReference(reference);
  return parsed ? repositoryName(parsed) : nameOf(reference);
}

function tagOf(destination: string): string {
  return destination.slice(destination.lastIndexOf(':') + 1);
}

function isBelow(reference: string, scope: string): boolean {
  const name = nameOf(reference);
  return name === scope || name.startsWith(`${scope}/`);
}

/** Digest or tag: of a reference or of a kind of object. */
function kindOf(text: string): 'digest' | 'tag' {
  return text.includes('@') || /^Image(Digest|Content)/.test(text) ? 'digest' : 'tag';
}

/** One text for all spellings of an image. */
function normal(reference: string): string {
  const parsed = tryParseReference(reference);
  if (!parsed) return reference;
  return `${repositoryName(parsed)}${parsed.kind === 'digest' ? `@${parsed.digest}` : `:${parsed.tag}`}`;
}
