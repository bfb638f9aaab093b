/** The image of a catalog as its Dockerfile describes it: what Konflux calls a fragment. */
import type { Location } from '../finding.ts';
import {
  type Copy,
  inContext,
  isReadByOthers,
  isWithin,
  type Label,
  pathAt,
  readDockerfile,
  type Stage,
  withoutSlash,
} from './dockerfile.ts';
import { mayWrite, writingCommands } from './dockerfile-run.ts';
import type { Minor } from './openshift.ts';
import { tryParsePlatform } from './platform.ts';

/** The label of an index image that names the folder of its catalog. */
export const CONFIGS_LABEL = 'operators.operatorframework.io.index.configs.v1';

/** The label of a fragment that names the versions of OpenShift that it is for. */
export const VERSIONS_LABEL = 'com.redhat.fbc.openshift.version';

export interface Fragment {
  /** The Dockerfile. */
  readonly path: string;
  /** The last `FROM`. */
  readonly place: Location;
  /** The base image; undefined if only a build knows it. */
  readonly base: string | undefined;
  readonly labels: ReadonlyMap<string, Label>;
  /** Files of the repository that the image has; undefined if only a build knows them. */
  readonly files: readonly CopiedFile[] | undefined;
  /** What the image's command serves; absent where the base image has the command. */
  readonly served?: Served;
  /** Whether any of the files in the catalog's folder defines a package; undefined if it is not known. */
  readonly hasPackage: boolean | undefined;
  /** What a change makes of the image; absent if the Dockerfile is new, or nothing changes. */
  readonly change?: {
    /** The base image before. */
    readonly base: string | undefined;
    readonly labels: ReadonlyMap<string, Label>;
    readonly served?: Served | undefined;
    /** Catalogs of the repository that the image had. */
    readonly had: readonly string[];
    /** The ignore file that changes; absent if the Dockerfile does. */
    readonly by?: string;
    /** Those that none has any more. */
    readonly lost: readonly string[];
  };
}

/** The folder that `opm serve` reads in an image, for clusters with OLM v0. */
interface Served {
  /** Undefined if only the image knows it. */
  readonly folder: string | undefined;
  readonly line: number;
}

/** What the Dockerfile says by itself. */
export type DescribedFragment = Omit<Fragment, 'hasPackage' | 'change'>;

/** What is known of a Dockerfile's surroundings. */
interface Surroundings {
  /** Paths of all files, sorted. */
  readonly files: readonly string[];
  /** Whether a build whose context is a folder does not get a file. */
  readonly isLeftOut?: (folder: string, path: string) => boolean;
  /** Whether the Dockerfile is known to be one of a catalog, whatever it says now. */
  readonly isCatalog?: boolean;
}

interface CopiedFile {
  /** In the repository. */
  readonly source: string;
  /** In the image. */
  readonly path: string;
}

/**
 * What a Dockerfile makes of a repository's files; undefined if it is not the image of a catalog.
 */
export function fragmentIn(
  path: string,
  text: string,
  { files, isLeftOut = () => false, isCatalog = false }: Surroundings,
): DescribedFragment | undefined {
  const stages = readDockerfile(text);
  const last = stages.at(-1);
  // Another program may make an image of a text without stages.
  if (!last) return isCatalog ? unknownImage(path) : undefined;
  const chain = chainOf(last, stages);
  const labels = new Map(chain.toReversed().flatMap((stage) => [...stage.labels]));
  const copies = chain.flatMap((stage) => stage.copies);
  const base = chain.at(-1)?.base;
  const isIndex = isIndexBase(base);
  const copiesToConfigs = copies.some(({ to }) => to !== undefined && /^\/configs(?:\/|$)/.test(to));
  const servesCatalog = isCatalog || isIndex || labels.has(CONFIGS_LABEL) || copiesToConfigs;
  const isBundle = [...labels.keys()].some((key) => key.startsWith('operators.operatorframework.io.bundle.'));
  // An index image may have a copy of a bundle's labels.
  if (!servesCatalog || (isBundle && !isIndex)) return undefined;
  const context: Context = {
    folder: path.slice(0, Math.max(0, path.lastIndexOf('/'))),
    files,
    isLeftOut,
    stages,
    budget: { left: MOST_LOOKS },
    known: new Map(),
  };
  const served = servedBy(chain);
  return {
    path,
    place: { file: path, line: last.line, column: 1 },
    base,
    labels,
    ...(served ? { served } : {}),
    files: isReadByOthers(text) ? undefined : imageFiles(last, labels, context),
  };
}

/** What an image of stages serves: its own comes first, then those that it is built on. */
function servedBy(chain: readonly Stage[]): Served | undefined {
  const at = chain.findIndex(({ entrypoint }) => entrypoint !== undefined);
  const entrypoint = chain[at]?.entrypoint;
  // ENTRYPOINT takes away the arguments of the stages below.
  const own = chain.slice(0, at < 0 ? chain.length : at + 1).find((one) => one.arguments !== undefined);
  const last = own?.arguments ?? entrypoint;
  if (!last) return undefined;
  const parts = [entrypoint, own?.arguments].flatMap((one) => one ?? []);
  const words = parts.flatMap((one) => one.words?.flatMap((word) => word.split(/\s+/)) ?? [undefined]);
  const folder = words.includes(undefined)
    ? undefined
    : servedFolder(words as readonly string[], chain[0]?.folder);
  return { folder, line: last.line };
}

/** Options of `opm serve` with a value. */
const WITH_VALUE = /^(?:--(?:cache-dir|port|pprof-addr|termination-log)|-[pt])$/;

/** The first operand of `serve`. */
function servedFolder(words: readonly string[], folder: string | undefined): string | undefined {
  const serve = words.indexOf('serve');
  const operands = serve < 0 ? [] : words.slice(serve + 1);
  const found = operands.find((word, i) => !word.startsWith('-') && !WITH_VALUE.test(operands[i - 1] ?? ''));
  if (found === undefined || (folder === undefined && !found.startsWith('/'))) return undefined;
  return pathAt(folder ?? '/', found);
}

/** An image of which a Dockerfile says nothing. */
function unknownImage(path: string): DescribedFragment {
  const place = { file: path, line: 1, column: 1 };
  return { path, place, base: undefined, labels: new Map(), files: undefined };
}

/** Files of the repository that the image has; undefined if only a build knows what is in the catalog's folder. */
function imageFiles(
  last: Stage,
  labels: ReadonlyMap<string, Label>,
  context: Context,
): readonly CopiedFile[] | undefined {
  const folder = labels.has(CONFIGS_LABEL) ? catalogFolder({ labels }) : UNLABELED_FOLDER;
  // A folder that only a build knows may be any.
  if (folder === undefined) return undefined;
  return filesIn(last, folder, context) && placesOf(last, context).filter(isFile);
}

/** Whether a base image is one of opm. None of them has a label of a catalog. */
export function isIndexBase(base = ''): boolean {
  return /operator-registry(?:-rhel\d+)?(?:[:@]|$)|\/opm(?:[:@]|$)/.test(base);
}

/** Where an image without a label has its catalog: there the Dockerfiles of `opm generate dockerfile` put it. */
export const UNLABELED_FOLDER = '/configs';

/** The folder of the catalog in the image by its label, without a slash at its end; undefined without the label. */
export function catalogFolder({ labels }: Pick<Fragment, 'labels'>): string | undefined {
  const label = labels.get(CONFIGS_LABEL);
  return label?.value?.replace(/\/+$/, '');
}

/**
 * The version of OpenShift that an image is for, by its label, its base image or the Dockerfile's name; undefined where none
 * says it, or a label names several.
 */
export function platformOf({ path, base = '', labels }: DescribedFragment): Minor | undefined {
  const label = labels.get(VERSIONS_LABEL)?.value;
  if (label !== undefined) return tryParsePlatform(label.replaceAll(/[[\]"\s]/g, ''));
  const tag = /\/ose-operator-registry[^/:]*:([^/:]+)$/.exec(withoutDigest(base))?.[1];
  return tag === undefined ? platformInName(path) : tryParsePlatform(tag);
}

/** The version of OpenShift in the name of a Dockerfile: `Dockerfile.v4-20`, `Dockerfile-4.20.catalog`. */
export function platformInName(path: string): Minor | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const version = name.replaceAll(/[.-]?(?:Dockerfile|Containerfile|catalog)[.-]?/gi, '');
  return tryParsePlatform(version.replace(/[-_]/, '.'));
}

/** A reference without its digest. A pattern for its end would look at what follows each of many signs. */
export function withoutDigest(image: string): string {
  return image.split('@', 1)[0] ?? '';
}

/** A reference without its tag and digest. */
export function repositoryOf(image: string): string {
  const name = withoutDigest(image);
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  return colon < 0 ? name : name.slice(0, colon);
}

/** A stage, and those that it is built on, as far as they are in the same Dockerfile. */
function chainOf(last: Stage, stages: readonly Stage[]): Stage[] {
  const chain = [last];
  for (let i = stages.indexOf(last) - 1, at = last; i >= 0; i--) {
    const below = stages[i];
    if (below?.name === undefined || below.name !== at.base?.toLowerCase()) continue;
    chain.push(below);
    at = below;
  }
  return chain;
}

/** Most files that an image has. */
const MOST_FILES = 200_000;

/** Most stages, files and characters of programs that are looked at for the copies of a Dockerfile. */
const MOST_LOOKS = 10_000_000;

interface Context {
  /** The Dockerfile's folder. */
  readonly folder: string;
  /** Paths in the repository, sorted. */
  readonly files: readonly string[];
  readonly isLeftOut: NonNullable<Surroundings['isLeftOut']>;
  readonly stages: readonly Stage[];
  /** What is left of {@link MOST_LOOKS}. */
  readonly budget: { left: number };
  /** By stage, what is known of it. */
  readonly known: Map<Stage, readonly Place[]>;
}

/** A file of the image; without a source, a file or folder of which only a build knows what is in it. */
interface Place {
  readonly source: string | undefined;
  readonly path: string;
}

/** Everything may be here: the empty path is above all others. */
const ANYTHING: Place = { source: undefined, path: '' };

/** What is copied into a stage, and into those that it is built on. */
function placesOf(stage: Stage, context: Context): readonly Place[] {
  const known = context.known.get(stage);
  if (known) return known;
  const copied = chainOf(stage, context.stages)
    .toReversed()
    .flatMap((one) => one.copies.flatMap((copy) => copiedBy(copy, one, context)));
  const places = copied.length <= MOST_FILES ? copied : [ANYTHING];
  context.known.set(stage, places);
  return places;
}

/**
 * The files of a repository below a folder of a stage; undefined if a build makes some of them, takes some from elsewhere,
 * or too much was looked at to find out.
 */
function filesIn(stage: Stage, folder: string, context: Context): readonly CopiedFile[] | undefined {
  const { stages, budget } = context;
  if (budget.left < 0) return undefined;
  const places = placesOf(stage, context);
  const chain = chainOf(stage, stages);
  const commands = chain.flatMap(writingCommands);
  const characters = commands.reduce((sum, { text }) => sum + text.length, 0);
  budget.left -= stages.length + characters + places.length;
  if (commands.some((one) => mayWrite(one, folder))) return undefined;
  const inFolder = places.filter(
    ({ source, path }) => isWithin(path, folder) || (source === undefined && isWithin(folder, path)),
  );
  return inFolder.every(isFile) ? inFolder : undefined;
}

function isFile(place: Place): place is CopiedFile {
  return place.source !== undefined;
}

/** What an instruction copies. */
function copiedBy({ from, sources, unpacks, to }: Copy, stage: Stage, context: Context): readonly Place[] {
  if (to === undefined) return [ANYTHING];
  const unknown: readonly Place[] = [{ source: undefined, path: withoutSlash(to) }];
  if (sources === undefined) return unknown;
  if (from === undefined) {
    return sources.flatMap(
      (source): readonly Place[] => copiesOf(source, { to, unpacks }, context) ?? unknown,
    );
  }
  const other = stageBefore(stage, from, context.stages);
  return sources.flatMap(
    (source): readonly Place[] => (other && copiesFrom(other, { source, to }, context)) ?? unknown,
  );
}

/** An earlier stage by its name or number; undefined if there is none, or several: builders differ in which they take. */
function stageBefore(stage: Stage, from: string, stages: readonly Stage[]): Stage | undefined {
  const named = stages.filter(({ name }) => name === from.toLowerCase());
  const found = /^\d+$/.test(from) ? stages[Number(from)] : named[0];
  return found && named.length < 2 && stages.indexOf(found) < stages.indexOf(stage) ? found : undefined;
}

/** The files that a COPY from another stage brings; undefined if only a build knows them. */
function copiesFrom(
  stage: Stage,
  { source: written, to }: { readonly source: string; readonly to: string },
  context: Context,
): readonly CopiedFile[] | undefined {
  if (PATTERN.test(written)) return undefined;
  const from = withoutSlash(pathAt('/', written));
  return filesIn(stage, from, context)?.map(({ source, path }) => ({
    source,
    path: path === from ? fileIn(to, path) : `${withoutSlash(to)}${path.slice(from.length)}`,
  }));
}

/** A source that names files by a pattern. */
const PATTERN = /[*?[]/;

/** The path of a file that is copied: in a folder, if the target ends with a slash. */
function fileIn(to: string, path: string): string {
  return to.endsWith('/') ? `${to}${path.slice(path.lastIndexOf('/') + 1)}` : to;
}

/**
 * The files that a COPY of this source brings. The source is looked for at the top of the repository and in the
 * Dockerfile's folder, because the build chooses between these.
 */
function copiesOf(
  written: string,
  { to, unpacks }: { readonly to: string; readonly unpacks: boolean },
  { folder, files, isLeftOut }: Context,
): readonly CopiedFile[] | undefined {
  if (PATTERN.test(written) || written.includes('://')) return undefined;
  const own = inContext(written);
  for (const path of new Set([own, [folder, own].filter((name) => name !== '').join('/')])) {
    if (path === '') continue;
    const top = path === own ? '' : folder;
    if (files[firstAt(files, path)] === path) {
      if (isLeftOut(top, path)) return [];
      // A file that is not the text of a catalog may be an archive, whatever its name.
      if (unpacks && !/\.(?:ya?ml|json)$/i.test(path)) return undefined;
      return [{ source: path, path: fileIn(to, path) }];
    }
    // In the order of characters, 0 comes right after the slash.
    const inside = files.slice(firstAt(files, `${path}/`), firstAt(files, `${path}0`));
    if (inside.length > 0)
      return inside
        .filter((source) => !isLeftOut(top, source))
        .map((source) => ({ source, path: `${withoutSlash(to)}${source.slice(path.length)}` }));
  }
  return undefined;
}

/** The index of the first path that is not before another one. */
function firstAt(sorted: readonly string[], path: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < path) low = middle + 1;
    else high = middle;
  }
  return low;
}
