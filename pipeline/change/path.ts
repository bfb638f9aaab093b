/** What a changed path is: part of a package, of the gate itself, of the repository's root, or nothing known. */

import { dirname, join } from 'node:path/posix';
import { PipelineError } from '../error.ts';
import { unescaped } from '../file-pieces.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, isTree, LINK_MODE, listFiles, type PathChange, type TreeFile } from '../git/tree.ts';
import { eachOf } from '../parallel.ts';
import { ADVISORIES, compileLayout, escapeText, type Layout, type PathKind } from '../policy/layout.ts';
import type { OwnersSource, Policy } from '../policy/policy.ts';

/** Beyond the kinds of the layout: files that name owners, the gate's own files, those that it trusts, and the rest. */
export type Area = PathKind | 'owners' | 'gate' | 'advisory' | 'repository' | 'root' | 'unknown';

export interface PlacedPath {
  readonly path: string;
  readonly area: Area;
  readonly package: string | undefined;
  readonly catalog: string | undefined;
  readonly version: string | undefined;
  /** Set for a file of a bundle or template that also names owners, by a source of the policy. */
  readonly namesOwners?: true;
  /** Set for a file outside of the layout that may run Portolan, by its content. */
  readonly mayRun?: true;
}

/** Whether the layout does not know a file, so that a catalog, template or bundle in it would not be found. */
export function isOutsideLayout({ area, mayRun }: Pick<PlacedPath, 'area' | 'mayRun'>): boolean {
  return area === 'unknown' || area === 'root' || mayRun === true;
}

/** Names of files outside of catalogs' folders that may hold one. */
export const MAY_BE_CATALOG: RegExp = /\.(?:ya?ml|json)$|(?:^|\/)[^./]+$/i;

/**
 * Gives a function that says what a path is under a policy. What decides about permissions comes first: no pattern of the
 * layout makes it a package's.
 */
export function pathPlacer(policy: Policy): (path: string) => PlacedPath {
  const { layout, owners } = policy;
  const sources = owners.sources.map(sourceMatcher);
  const isGate = gateMatcher(policy);
  const isTrusted = trustedMatcher(policy);
  return (path) => {
    const unplaced = { path, package: undefined, catalog: undefined, version: undefined };
    if (isGate(path)) return { ...unplaced, area: 'gate' };
    if (/^\.github\//i.test(path) || CHECKOUT.test(path)) return { ...unplaced, area: 'repository' };
    const match = layout.match(path);
    const ownersOf = firstDefined(sources, (source) => source(path, layout));
    if (ownersOf !== undefined && !isReadWhole(match))
      return { ...unplaced, area: 'owners', package: ownersOf };
    if (match) {
      const { kind, ...names } = match;
      return { path, area: kind, ...names, ...(ownersOf === undefined ? {} : { namesOwners: true }) };
    }
    if (ADVISORY.test(path)) return { ...unplaced, area: 'advisory' };
    if (isTrusted(path) || RUN_BY_OTHERS.test(path)) return { ...unplaced, area: 'repository' };
    return { ...unplaced, area: path.includes('/') ? 'unknown' : 'root' };
  };
}

/** Whether opm reads a file as what the layout says, whatever its name: so it is that, though it also names owners. */
function isReadWhole(match: { readonly kind: PathKind } | undefined): boolean {
  return match?.kind === 'bundle' || match?.kind === 'template';
}

/** The first answer of `of` for an item of a list. */
function firstDefined<T, R>(list: readonly T[], of: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Gives a function that says whose owners a path names; undefined for other paths. */
function sourceMatcher({
  path: pattern,
}: OwnersSource): (path: string, layout: Layout) => string | undefined {
  if (pattern.startsWith('{dir}/')) {
    const name = pattern.slice('{dir}/'.length);
    // A file in the folder of all packages is of none of them, though it stands where their names do.
    return (path, layout) =>
      path.split('/').at(-1) === name ? layout.packageAt(path.slice(0, -name.length - 1)) : undefined;
  }
  const own = compileLayout([{ kind: 'packageConfig', pattern }]);
  return (path) => own.match(path)?.package;
}

/** The policy, Portolan's workflows as `portolan setup` calls them, and files that name owners of everything. */
const GATE =
  /^(?:\.github$|\.github\/portolan(?:-owners)?\.ya?ml$|\.github\/workflows\/(?:portolan[^/]*|install-test)\.ya?ml$|(?:docs\/|\.\w+\/)?codeowners$|owners_aliases$)/i;

/**
 * What forges, CI systems and git obey: by custom such files and folders begin with a dot. Those of the systems that have
 * another custom are named. Both count in any folder: settings of the system, or a workflow that uses an action, say where they are.
 */
const RUN_BY_OTHERS =
  /(?:^|\/)\.|(?:^|\/)(?:action\.ya?ml|jenkinsfile[^/]*|[^/]*-pipelines[^/]*\.ya?ml|(?:amplify|appveyor|bitrise|buddy|buildkite|buildspec|circle|cloudbuild|codefresh|codemagic|codeship-(?:services|steps)|packit|screwdriver|shippable|wercker|zuul)\.ya?ml|[^/]*\.gocd\.(?:ya?ml|json)|bors\.toml|netlify\.toml|(?:cloudbuild|vercel)\.json|renovate\.json5?|(?:zuul\.d|bamboo-specs|buildkite)\/.*)$/i;

/** By this, a checkout may hold other bytes than git, which Portolan reads: whoever builds an image of it serves them. */
const CHECKOUT = /(?:^|\/)\.gitattributes$/i;

/** What `portolan advisory` writes and applies. */
const ADVISORY = new RegExp(`^${ADVISORIES}(?:/|$)`, 'i');

/** Says whether a path decides who may change what, or is a workflow whose word counts. */
function gateMatcher({ requiredChecks }: Policy): (path: string) => boolean {
  const counted = new Set(requiredChecks.flatMap(({ workflow }) => workflow ?? []));
  return (path) => GATE.test(path) || counted.has(path);
}

/** Gives a function that says whether Portolan relies on a file that belongs to neither the gate nor a package. */
function trustedMatcher({ owners, registries, graph, fleet }: Policy): (path: string) => boolean {
  // Prow obeys `OWNERS` whatever the policy says of it.
  const names = new Set([
    'OWNERS',
    ...owners.sources.flatMap(({ path }) => (path.startsWith('{dir}/') ? path.slice('{dir}/'.length) : [])),
  ]);
  const named = [
    ...fleet.files,
    registries.lock,
    ...(graph.published === 'git' ? [] : [graph.published.ledger]),
    ...graph.released.flatMap(({ by }) => (typeof by === 'object' ? (by.ledger ?? []) : [])),
    ...graph.installSets,
    ...graph.companions,
    ...graph.otherCatalogs,
  ].map(namedMatcher);
  return (path) =>
    names.has(path.split('/').at(-1) ?? '') || named.some((expression) => expression.test(path));
}

/** Matches a file that the policy names, or those in a folder; `{catalog}` and `{minor}` stand for any part of a name. */
function namedMatcher(text: string): RegExp {
  const parts = text.replaceAll(/^\.\/|\/$/g, '').split(/\{[^}]*\}/);
  return new RegExp(`^${parts.map(escapeText).join('[^/]+')}(?:/|$)`);
}

/** Largest workflow or script that is looked into, in bytes. */
const WORKFLOW_BYTES = 1024 * 1024;

/** Configuration of jobs: anything but the rest of `.github`, which only names Portolan. */
const mayRun = (path: string): boolean =>
  RUN_BY_OTHERS.test(path) &&
  (!/^\.github\//i.test(path) || /^\.github\/(?:workflows|actions)\//i.test(path));

/** Documents and media: they may speak of Portolan, and nothing runs them. */
const DOCUMENT =
  /\.(?:md|markdown|adoc|asciidoc|rst|txt|pdf|png|jpe?g|gif|svg|webp|ico|mp4|webm|gz|tgz|zip)$/i;

/** Most files outside of the layout that are looked into, and how many at a time; behind them each may run Portolan. */
const MOST_LOOKED_INTO = 2000;
const LOOKED_INTO_AT_A_TIME = 64;

/**
 * The places of changed paths, as their modes and contents have it: a workflow or action that runs Portolan is the
 * gate's, whatever its name and system. A submodule or link outside the catalogs is the repository's, and so is every other file
 * that mentions Portolan: a script that a job runs, or a file that it includes, may have any name.
 *
 * @param trees those of which the paths differ
 */
export async function placePaths(
  objects: ObjectReader,
  changes: readonly PathChange[],
  policy: Policy,
  trees: { readonly base: string; readonly merged: string },
): Promise<(PlacedPath & PathChange)[]> {
  const place = pathPlacer(policy);
  const placedChanges = await Promise.all(
    changes.map(async (change) => {
      const placed = { ...place(change.path), ...change };
      const sides = [change.before, change.after].flatMap((side) => side ?? []);
      const isPlain = sides.every(isPlainFile);
      if (placed.area === 'repository' && mayRun(placed.path)) {
        const at = { path: change.path, objects };
        const runs =
          (await mayRunPortolan(change.before, { ...at, tree: trees.base })) ||
          (await mayRunPortolan(change.after, { ...at, tree: trees.merged }));
        return { ...placed, area: runs ? ('gate' as const) : placed.area };
      }
      // A policy may leave these to anybody; a link or submodule there could stand for any content.
      const isOutside = ['root', 'unknown', 'advisory'].includes(placed.area);
      return isOutside && !isPlain ? { ...placed, area: 'repository' as const } : placed;
    }),
  );
  const looked = placedChanges.filter((one) => isOutsideLayout(one) && !DOCUMENT.test(one.path));
  const running = new Set<object>(looked.slice(MOST_LOOKED_INTO));
  await eachOf(looked.slice(0, MOST_LOOKED_INTO), LOOKED_INTO_AT_A_TIME, async (one) => {
    const sides = [one.before, one.after].flatMap((side) => side ?? []);
    const mentions = await Promise.all(sides.map(({ id }) => mentionsPortolan(objects, id)));
    if (mentions.includes(true)) running.add(one);
  });
  return placedChanges.map((one) =>
    running.has(one) ? { ...one, area: 'repository' as const, mayRun: true as const } : one,
  );
}

/** Whether a file is a regular one, neither a link nor a submodule. */
const isPlainFile = ({ mode }: TreeFile): boolean => whyUnreadable(mode) === undefined;

/** Most files of a folder that are looked into. */
const MOST_LINKED = 200;

/** Whether a file may run Portolan, or lead to a file that does. One that cannot be read may. */
async function mayRunPortolan(
  file: TreeFile | undefined,
  { objects, tree, path }: { readonly objects: ObjectReader; readonly tree: string; readonly path: string },
): Promise<boolean> {
  if (!file) return false;
  if (isPlainFile(file)) return mentionsPortolan(objects, file.id);
  if (file.mode !== LINK_MODE) return true;
  const text = (await objects.read(file.id, WORKFLOW_BYTES)).bytes.toString('utf8');
  const target = join(dirname(path), text).replace(/\/$/, '');
  // What the link leads to is looked at only inside of the repository.
  if (text.startsWith('/') || target.startsWith('..')) return true;
  const entry = await entryAt(objects, tree, target);
  if (!entry) return true;
  const own = isTree(entry.mode) ? await listFiles(objects, entry.id) : [entry];
  if (own.length > MOST_LINKED || !own.every(isPlainFile)) return true;
  return (await Promise.all(own.map(({ id }) => mentionsPortolan(objects, id)))).includes(true);
}

/** Whether a file may mention Portolan; one that is too large to be looked into, or not in the clone, may. */
async function mentionsPortolan(objects: ObjectReader, id: string): Promise<boolean> {
  try {
    const { bytes } = await objects.read(id, WORKFLOW_BYTES);
    // Windows runs scripts in UTF-16, which has a zero byte beside each letter.
    const text = bytes.toString('utf8').replaceAll('\0', '');
    return /portolan/i.test(unescaped(text));
  } catch (error) {
    if (error instanceof PipelineError && ['too-large', 'not-found'].includes(error.code)) return true;
    throw error;
  }
}
