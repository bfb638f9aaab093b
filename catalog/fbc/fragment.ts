/** The image of a catalog as its Dockerfile describes it: what Konflux calls a fragment. */
import type { Location } from '../finding.ts';
import { type Copy, type Label, readDockerfile, type Stage } from './dockerfile.ts';
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
  /** Whether any of the files in the catalog's folder defines a package; undefined if it is not known. */
  readonly hasPackage: boolean | undefined;
  /** What a change makes of the image; absent if the Dockerfile is new, or nothing changes. */
  readonly change?: {
    /** The base image before. */
    readonly base: string | undefined;
    readonly labels: ReadonlyMap<string, Label>;
    /** Catalogs of the repository that the image had. */
    readonly had: readonly string[];
    /** The ignore file that changes; absent if the Dockerfile does. */
    readonly by?: string;
    /** Those that none has any more. */
    readonly lost: readonly string[];
  };
}

/** What the Dockerfile says by itself. */
export type DescribedFragment = Omit<Fragment, 'hasPackage' | 'change'>;

/** What is known of a Dockerfile's surroundings. */
export interface Surroundings {
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
  if (!last) return undefined;
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
    catalog: catalogFolder({ labels }) ?? '/configs',
    known: new Map(),
  };
  return {
    path,
    place: { file: path, line: last.line, column: 1 },
    base,
    labels,
    // A folder that only a build knows may be any.
    files:
      labels.has(CONFIGS_LABEL) && catalogFolder({ labels }) === undefined
        ? undefined
        : filesOf(last, context),
  };
}

/** Whether a base image is one of opm. None of them has a label of a catalog. */
export function isIndexBase(base = ''): boolean {
  return /operator-registry(?:-rhel\d+)?(?:[:@]|$)|\/opm(?:[:@]|$)/.test(base);
}

/** The folder of the catalog in the image, without a slash at its end. */
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
    if (below?.name === undefined || below.name !== at.base) continue;
    chain.push(below);
    at = below;
  }
  return chain;
}

/** Most files that an image has. */
const MOST_FILES = 200_000;

interface Context {
  /** The Dockerfile's folder. */
  readonly folder: string;
  /** Paths in the repository, sorted. */
  readonly files: readonly string[];
  readonly isLeftOut: NonNullable<Surroundings['isLeftOut']>;
  readonly stages: readonly Stage[];
  /** The folder of the catalog in the image. */
  readonly catalog: string;
  /** By stage, what is known of it. */
  readonly known: Map<Stage, readonly CopiedFile[] | undefined>;
}

/** The files that a stage has; undefined if a build makes some of them, or takes some from elsewhere. */
function filesOf(stage: Stage, context: Context): readonly CopiedFile[] | undefined {
  if (!context.known.has(stage)) {
    const parts = chainOf(stage, context.stages)
      .toReversed()
      .flatMap((one) => [runIn(one, context), ...one.copies.map((copy) => copiedBy(copy, one, context))]);
    const files = parts.flatMap((part) => part ?? []);
    const isKnown = files.length <= MOST_FILES && parts.every((part) => part !== undefined);
    context.known.set(stage, isKnown ? files : undefined);
  }
  return context.known.get(stage);
}

/**
 * What a stage's programs add to the files of the catalog.
 *
 * @returns no files; undefined if the programs may write some, which then are not known
 */
function runIn({ runs }: Stage, { catalog }: Context): readonly CopiedFile[] | undefined {
  const mayWrite = ({ text, folder }: (typeof runs)[number]): boolean => {
    const isInside = folder === undefined || isWithin(withoutSlash(folder), catalog);
    const commands = text.split(/&&|\|\||[;|\n]/);
    return commands.some((one) => (isInside || one.includes(catalog)) && !isReading(one));
  };
  return runs.some(mayWrite) ? undefined : [];
}

/** Whether a command leaves the content of files as it is: filling the cache of opm only reads the catalog. */
function isReading(command: string): boolean {
  return (
    !/[<>`$]/.test(command) &&
    /--cache-(?:only|dir)|\bopm[",\s]+validate\b|^\s*(?:chgrp|chmod|chown|ls) /.test(command)
  );
}

/** The files that an instruction copies; undefined where they are not known. */
function copiedBy(
  { from, sources, to }: Copy,
  stage: Stage,
  context: Context,
): readonly CopiedFile[] | undefined {
  const { catalog, stages } = context;
  const isElsewhere = to !== undefined && !isWithin(to, catalog) && !isWithin(catalog, withoutSlash(to));
  // What is put elsewhere does not matter.
  if (from !== undefined && isElsewhere) return [];
  // Unless a later stage takes it from there.
  const ifUnknown = isElsewhere && stage === stages.at(-1) ? [] : undefined;
  if (sources === undefined || to === undefined) return ifUnknown;
  if (from === undefined)
    return joinedFiles(sources.map((source) => copiesOf(source, to, context))) ?? ifUnknown;
  const before = stages.slice(0, stages.indexOf(stage));
  const other = before.find(({ name }, i) => name === from || String(i) === from);
  const files = other && filesOf(other, context);
  return files && sources.flatMap((source) => filesBelow(files, withoutSlash(source), withoutSlash(to)));
}

/** The files of all parts; undefined if those of one are unknown, because then nobody knows what the image has. */
function joinedFiles(
  parts: readonly (readonly CopiedFile[] | undefined)[],
): readonly CopiedFile[] | undefined {
  return parts.every((part) => part !== undefined) ? parts.flatMap((part) => part ?? []) : undefined;
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** A folder's files, below another path. */
function filesBelow(files: readonly CopiedFile[], from: string, to: string): CopiedFile[] {
  return files.flatMap(({ source, path }) =>
    isWithin(path, from) ? [{ source, path: `${to}${path.slice(from.length)}` }] : [],
  );
}

/**
 * The files that a COPY of this source brings. The source is looked for at the top of the repository and in the
 * Dockerfile's folder, because the build chooses between these.
 */
function copiesOf(
  written: string,
  to: string,
  { folder, files, isLeftOut }: Context,
): readonly CopiedFile[] | undefined {
  if (/[*?[]|:\/\//.test(written)) return undefined;
  const own = inContext(written);
  for (const path of new Set([own, [folder, own].filter((name) => name !== '').join('/')])) {
    if (path === '') continue;
    const top = path === own ? '' : folder;
    if (files[firstAt(files, path)] === path) {
      if (isLeftOut(top, path)) return [];
      const name = path.slice(path.lastIndexOf('/') + 1);
      return [{ source: path, path: to.endsWith('/') ? `${to}${name}` : to }];
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

/** A source within what the build gets, as Docker reads it: `..` leads no higher than its top. */
function inContext(written: string): string {
  const names: string[] = [];
  for (const name of written.split('/'))
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  return names.join('/');
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

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '' ? '/' : `${folder}/`);
}
