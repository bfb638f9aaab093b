/** What a pull request changes: itself, and with the commit that its merge makes to release bundles. */
import type { Change } from '../change/change.ts';
import type { Trees } from '../change/classification-input.ts';
import { classifyChange, type Knowledge } from '../change/classify.ts';
import type { KeptFiles } from '../change/content.ts';
import type { Repository } from '../git/repository.ts';
import type { Registry } from '../ports.ts';
import type { CheckScene, OtherCatalogs, TouchedCatalog } from './catalogs.ts';
import type { ContextReport } from './context.ts';
import type { BothChanges } from './people.ts';
import { type Foreseen, foreseeRelease } from './release.ts';
import type { RenamedCatalog } from './renamed-catalogs.ts';
import type { CheckRequest } from './request.ts';
import { type Confirmed, tagDigests } from './tag-digests.ts';

/** Ids of a pull request's commits. */
export interface Revisions {
  readonly base: string;
  readonly head: string;
  /** Their latest common ancestor, where the clone has no history to find it in. */
  readonly ancestor?: string;
}

/** A pull request that merges without conflicts, under the policy of its base branch. */
interface MergedPull extends Revisions, Omit<CheckScene, 'change'> {
  readonly repository: Repository;
  readonly request: CheckRequest;
  /** Asked for what the policy allows; without it registries are not contacted. */
  readonly registry: Registry | undefined;
  /** Contents of files: the classes and the rules read the same ones. */
  readonly files: KeptFiles;
}

interface ClassifiedPull extends MergedPull, CheckScene {
  /** What the tags that the change pins stand for. */
  readonly tags: Confirmed;
}

export interface ForeseenPull extends ClassifiedPull {
  /** What the merge releases, with what makes the released catalogs unsafe. */
  readonly release: Foreseen;
  /** The state in which catalogs are checked: after the release, unless that is unsafe. */
  readonly after: CheckScene;
  /** The change with what the merge itself commits; undefined where it commits nothing of its own. */
  readonly committed: Change | undefined;
}

/** A pull request with the catalogs that it touches. */
export interface LoadedPull extends ForeseenPull {
  readonly touched: readonly TouchedCatalog[];
  /** The touched packages in all other catalogs. */
  readonly others: OtherCatalogs;
  /** Catalogs whose folders are renamed: they are known by their new names, on both sides. */
  readonly renamed: readonly RenamedCatalog[];
  /** What was read of the packages that are not touched. */
  readonly context: ContextReport;
}

/**
 * Classifies the change. Where it pins tags whose digests are known, it is classified again with them.
 *
 * @throws PipelineError as {@link classifyChange}
 */
export async function classifyPull(pull: MergedPull): Promise<ClassifiedPull> {
  const { objects, trees, policy, files } = pull;
  const change = await classifyChange(objects, trees, policy, { files });
  const tags = await tagDigests(objects, change.pins, pull);
  if (tags.digests.size === 0) return { ...pull, tags, change };
  return {
    ...pull,
    tags,
    change: await classifyChange(objects, trees, policy, knowledgeOf({ files, tags })),
  };
}

/** Foresees what the merge releases, and what the branch then has. An unsafe change releases nothing. */
export async function foreseeMerge(pull: ClassifiedPull): Promise<ForeseenPull> {
  const { repository, objects, policy, trees, change, request } = pull;
  const nothing = { tree: trees.merged, bundles: [], findings: [], unchecked: [], released: [] };
  const release =
    change.unsafe.length > 0
      ? nothing
      : await foreseeRelease(repository, trees, { policy, today: request.today });
  if (release.tree === trees.merged) return { ...pull, release, after: pull, committed: undefined };
  const then = { base: trees.base, merged: release.tree };
  const changeThen = await classifyChange(objects, then, policy, knowledgeOf(pull));
  const { unsafe } = changeThen;
  return {
    ...pull,
    release: { ...release, findings: [...unsafe, ...release.findings] },
    after: unsafe.length > 0 ? pull : { objects, policy, trees: then, change: changeThen },
    // Where the merge opens another pull request instead, that one has a check of its own.
    committed: policy.release?.mode === 'commit' ? changeThen : undefined,
  };
}

/** Finds what changes between two other trees, with what is known for this pull request. */
export function changesBetween(pull: ClassifiedPull): (trees: Trees) => Promise<BothChanges> {
  return async (trees) => {
    const change = await classifyChange(pull.objects, trees, pull.policy, knowledgeOf(pull));
    return foreseeMerge({ ...pull, trees, change });
  };
}

function knowledgeOf({ files, tags }: Pick<ClassifiedPull, 'files' | 'tags'>): Knowledge {
  return { files, digests: tags.digests };
}
