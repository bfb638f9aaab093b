/**
 * Digests of what an approval is of: for a package, everything that lies in its place
 * at a commit; for a part of the repository, what the pull request changes in it. A
 * merge of the base branch that touches neither keeps both.
 */
import { createHash } from 'node:crypto';
import { mergeBases } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { diffTrees, entryAt, type PathChange } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import { type AreaChange, type Change, type PackageChange, subjectOf } from './change.ts';
import { pathPlacer } from './path.ts';
import { type PackageFolder, packageFolders } from './unit.ts';

export interface DigestInput {
  /** Id of the base branch's tip. */
  readonly base: string;
  /** Id of the commit whose content is meant: the head, or one that was reviewed. */
  readonly commit: string;
  /** What the pull request changes now: its subjects are what digests are made for. */
  readonly change: Change;
  readonly policy: Policy;
}

/**
 * Digest of each subject of a change at a commit, by the subject's name.
 *
 * @throws PipelineError `not-found` when the clone does not have the commit
 */
export async function contentDigests(
  repository: Repository,
  { base, commit, change, policy }: DigestInput,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  const folders = await packageFolders(repository.objects, commit, policy.layout);
  for (const one of change.packages.values()) {
    digests.set(subjectOf(one), digestOf(await packageContent(repository, commit, one, folders)));
  }
  const changed = change.areas.length > 0 ? await changesOf(repository, { base, commit, policy }) : [];
  for (const one of change.areas) {
    digests.set(subjectOf(one), digestOf(await areaContent(repository, commit, one, { changed, policy })));
  }
  return digests;
}

type Line = readonly string[];

function line(path: string, entry: PathChange['after']): Line {
  return entry ? [path, entry.mode, entry.id] : [path];
}

/** The folders of a package, files that it shares with others, and what names it in the place of another. */
async function packageContent(
  { objects }: Repository,
  commit: string,
  { name, paths, elsewhere }: PackageChange,
  folders: readonly PackageFolder[],
): Promise<Line[]> {
  const own = folders.filter((folder) => folder.package === name);
  const isOwn = (path: string): boolean =>
    own.some((folder) => path === folder.path || path.startsWith(`${folder.path}/`));
  const lines = own.map((folder) => line(folder.path, folder));
  for (const path of [...paths, ...elsewhere].filter((one) => !isOwn(one))) {
    lines.push(line(path, await entryAt(objects, commit, path)));
  }
  return lines;
}

/** A catalog as it stands, or what is changed of a part of the repository. */
async function areaContent(
  { objects }: Repository,
  commit: string,
  { area, paths, root }: AreaChange,
  { changed, policy }: { readonly changed: readonly PathChange[]; readonly policy: Policy },
): Promise<Line[]> {
  if (root !== undefined) return [line(root, await entryAt(objects, commit, root))];
  const place = pathPlacer(policy);
  const named = new Set(paths);
  const concerns = ({ path }: PathChange): boolean => named.has(path) || place(path).area === area;
  return changed.filter(concerns).map(({ path, after }) => line(path, after));
}

/** What a commit changes against the base branch, wherever it left it. */
async function changesOf(
  repository: Repository,
  { base, commit, policy }: Omit<DigestInput, 'change'>,
): Promise<readonly PathChange[]> {
  const [ancestor = base] = (await mergeBases(repository, base, commit)).sort();
  const { changes } = await diffTrees(
    repository.objects,
    { before: ancestor, after: commit },
    policy.limits.files,
  );
  return changes;
}

function digestOf(lines: readonly Line[]): string {
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}
