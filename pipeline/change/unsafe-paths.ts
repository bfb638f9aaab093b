/**
 * What no pull request may bring, whoever wrote it: links and submodules among catalogs,
 * names that other programs misread, paths that fall together, more than the limits.
 * These findings close the gate; no waiver opens it.
 */
import type { Finding } from '../../catalog/finding.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, type PathChange, SUBMODULE_MODE, type TreeDiff } from '../git/tree.ts';
import { catalogNameDefect, isCatalogName, isPackageName, type Layout } from '../policy/layout.ts';
import type { Limits, Policy } from '../policy/policy.ts';
import { hasUnseen } from '../text.ts';
import type { PlacedPath } from './path.ts';

interface SafetyInput {
  readonly diff: TreeDiff;
  /** What each changed path is, in the order of the changes. */
  readonly placed: readonly PlacedPath[];
  /** Id of the merged tree. */
  readonly merged: string;
  readonly policy: Policy;
}

/** Everything unsafe in the changed paths. Removing something is always safe. */
export async function unsafePaths(objects: ObjectReader, input: SafetyInput): Promise<Finding[]> {
  const { diff, placed, merged, policy } = input;
  const kept = diff.changes.filter(({ after }) => after !== undefined);
  const added = kept.filter(({ before }) => before === undefined).map(({ path }) => path);
  const places = new Map(placed.map((place) => [place.path, place]));
  return [
    ...(diff.complete ? [] : [tooMany(policy.limits)]),
    ...kept.flatMap((change) => [
      ...modeFindings(change, policy.layout),
      ...nameFindings(change.path, places.get(change.path), policy.layout),
    ]),
    ...(await collisionFindings(objects, { root: merged, added, layout: policy.layout })),
    ...(await sizeFindings(objects, kept, policy.limits)),
  ];
}

function unsafeFinding(rule: string, message: string, file: string, hint: string): Finding {
  return { rule, severity: 'error', message, location: { file, line: 1, column: 1 }, hint };
}

function tooMany({ files }: Limits): Finding {
  const message = `the pull request changes more than ${files} files`;
  return unsafeFinding('path/limits', message, '', 'split it, or raise limits.files in the policy');
}

const SAFE_MODES: ReadonlySet<string> = new Set(['100644', '100755']);

/** A finding if a file where catalogs are is a link or a submodule: readers follow it to what nobody checked. */
function modeFindings({ path, after }: PathChange, layout: Layout): Finding[] {
  if (!after || SAFE_MODES.has(after.mode) || !layout.governs(path)) return [];
  const what = whyUnreadable(after.mode) ?? `a file of mode ${after.mode}`;
  const message = `${JSON.stringify(path)} is ${what}; only regular files are allowed here`;
  return [unsafeFinding('path/mode', message, path, 'commit the file itself')];
}

/** A finding if some program would read the path as another one, or if the names in it are not valid. */
function nameFindings(path: string, placed: PlacedPath | undefined, layout: Layout): Finding[] {
  const defect = pathDefect(path) ?? edgeDefect(path, layout) ?? placedDefect(placed);
  const why = defect ?? windowsDefect(path, placed, layout);
  if (why === undefined) return [];
  return [unsafeFinding('path/name', `${JSON.stringify(path)}: ${why}`, path, 'rename it')];
}

/** Why the package or the catalog in a path is not valid as a name; undefined if both are. */
function placedDefect(placed: PlacedPath | undefined): string | undefined {
  if (placed?.package !== undefined && !isPackageName(placed.package)) {
    return `${JSON.stringify(placed.package)} is not a valid package name: lower-case letters, digits and dashes`;
  }
  if (placed?.catalog !== undefined && !isCatalogName(placed.catalog)) {
    return catalogNameDefect(placed.catalog);
  }
  return undefined;
}

/** Linux opens no longer path (PATH_MAX), and no file of a longer name (NAME_MAX). */
const [MOST_PATH_BYTES, MOST_NAME_BYTES] = [4096, 255];

const encoder = new TextEncoder();

/** Why some program would read a path as another one; undefined if none would. */
function pathDefect(path: string): string | undefined {
  if (hasUnseen(path) || /[\p{Cf}\ufffd]/u.test(path))
    return 'it contains control or invisible characters, or is not UTF-8';
  if (path.includes('\\')) return 'it contains a backslash';
  if (encoder.encode(path).length > MOST_PATH_BYTES) return `it is longer than ${MOST_PATH_BYTES} bytes`;
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..') return `it has the segment ${JSON.stringify(name)}`;
    // Windows drops dots and spaces at the end, and its short name of `.git` is `git~1`.
    if (/^\.git[ .]*$|^git~[0-9]+$/i.test(name)) return 'it is a git directory';
    if (encoder.encode(name).length > MOST_NAME_BYTES)
      return `a name is longer than ${MOST_NAME_BYTES} bytes`;
  }
  return undefined;
}

/**
 * Why shells, or systems that drop what a name begins or ends with, would read a path as another one among catalogs
 * or of the gate. Elsewhere such a name is only odd.
 */
function edgeDefect(path: string, layout: Layout): string | undefined {
  const names = path.split('/');
  const plain = names.map((name) => name.replace(/^[- ]+/, '').replace(/[ .]+$/, ''));
  if (plain.join('/') === path) return undefined;
  const paths = [path, plain.join('/')];
  if (!paths.some((one) => isCatalogOrGatePath(one, layout))) return undefined;
  return 'a name starts with a dash or a space, or ends with a space or a dot';
}

/** Devices, characters and streams that no file of Windows is called by, and short names that it reads as longer ones. */
const NOT_ON_WINDOWS =
  /[<>:"|?*]|^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)(?:[ .]|$)|^[^.]{1,8}~\d(?:\.[^.]{1,3})?$/i;

/**
 * Why nobody could check a path out on Windows, or would get it as another file, among catalogs and files of the gate.
 * Manifests of bundles are often called after their objects, whose names may have colons.
 */
function windowsDefect(path: string, placed: PlacedPath | undefined, layout: Layout): string | undefined {
  if (placed?.area === 'bundle' || !path.split('/').some((name) => NOT_ON_WINDOWS.test(name)))
    return undefined;
  return isCatalogOrGatePath(path, layout) ? 'Windows cannot have a file of this name' : undefined;
}

/** What GitHub runs, and who owns what: other files of `.github` only say how to write issues, or update dependencies. */
const OBEYED =
  /^(?:\.github(?:\/(?:workflows|actions)(?:\/.*)?|\/(?:portolan|CODEOWNERS)[^/]*)?|(?:docs\/)?CODEOWNERS(?:\/.*)?)$/i;

/** Whether a path is of catalogs or of the gate, in any case of letters. */
function isCatalogOrGatePath(path: string, layout: Layout): boolean {
  return layout.governs(path) || OBEYED.test(path);
}

/**
 * Findings about added paths that collide with others on file systems that do not tell upper from lower case: one of the two
 * files would take the place of the other. What no catalog or gate is concerned by may collide.
 */
async function collisionFindings(
  objects: ObjectReader,
  {
    root,
    added,
    layout,
  }: { readonly root: string; readonly added: readonly string[]; readonly layout: Layout },
): Promise<Finding[]> {
  const folded = new Map<string, Promise<ReadonlyMap<string, string>>>();
  const found = new Map<string, Finding>();
  for (const path of added) {
    const names = path.split('/');
    for (const [i, name] of names.entries()) {
      const folder = names.slice(0, i).join('/');
      const sharing = folded.get(folder) ?? sharedNames(objects, root, folder);
      folded.set(folder, sharing);
      const other = (await sharing).get(name);
      if (other === undefined) continue;
      const twin = [...names.slice(0, i), other, ...names.slice(i + 1)].join('/');
      if (!isCatalogOrGatePath(path, layout) && !isCatalogOrGatePath(twin, layout)) continue;
      const message = `${JSON.stringify(names.slice(0, i + 1).join('/'))} and ${JSON.stringify(other)} are the same file on some systems`;
      const pair = JSON.stringify([folder, ...[name, other].sort()]);
      if (!found.has(pair))
        found.set(pair, unsafeFinding('path/collision', message, path, 'rename one of them'));
    }
  }
  return [...found.values()];
}

/** Names of a folder that differ from another one only in case or in how letters are encoded, each with that other one. */
async function sharedNames(
  objects: ObjectReader,
  root: string,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const tree = await entryAt(objects, root, folder);
  const seen = new Map<string, string>();
  const shared = new Map<string, string>();
  for (const { name } of tree ? await objects.tree(tree.id) : []) {
    // Upper case between the two joins `ß` and `SS`, lower case before it `ß` and its capital.
    const key = name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase();
    const other = seen.get(key);
    if (other === undefined) seen.set(key, name);
    else {
      shared.set(name, other);
      shared.set(other, name);
    }
  }
  return shared;
}

/** A finding for each changed file that is larger than the policy allows. */
async function sizeFindings(
  objects: ObjectReader,
  kept: readonly PathChange[],
  { fileBytes }: Limits,
): Promise<Finding[]> {
  const files = kept.filter(({ after }) => after && after.mode !== SUBMODULE_MODE);
  const infos = await Promise.all(files.map(({ after }) => objects.info(after?.id ?? '')));
  return files.flatMap(({ path }, i) => {
    const size = infos[i]?.size ?? 0;
    if (size <= fileBytes) return [];
    const message = `${JSON.stringify(path)} has ${size} bytes, the limit is ${fileBytes}`;
    return [
      unsafeFinding('path/limits', message, path, 'split the file, or raise limits.fileBytes in the policy'),
    ];
  });
}
