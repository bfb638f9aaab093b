/** The changes of a pull request, without and with the commit that its merge makes to release bundles. */
import type { TagDigests } from '../../catalog/references/same-image.ts';
import type { Change } from '../change/change.ts';
import type { Trees } from '../change/classification-input.ts';
import { classifyChange, type Knowledge } from '../change/classify.ts';
import type { KeptFiles } from '../change/content.ts';
import type { Repository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import type { Registry } from '../ports.ts';
import type { BothChanges } from './authority/people.ts';
import { type Foreseen, foreseeRelease } from './content/release.ts';
import { type Confirmed, tagDigests } from './content/tag-digests.ts';
import type { CheckScene } from './world/scene.ts';

/** Ids of a pull request's commits. */
export interface Revisions {
  readonly base: string;
  readonly head: string;
  /** Their latest common ancestor, where the clone has no history to find it in. */
  readonly ancestor?: string;
}

/** The parts of a change before it is classified. */
interface ChangeParts {
  /** Contents of files: the classes and the rules read the same ones. */
  readonly files: KeptFiles;
  /** Asked for what the policy allows; without it registries are not contacted. */
  readonly registry: Registry | undefined;
  /** Digests of tags, as a registry just returned them. */
  readonly digests: TagDigests | undefined;
}

interface Classified {
  readonly change: Change;
  /** Digests of the tags that the change pins. */
  readonly tags: Confirmed;
}

/** The result of the merge on the branch. */
export interface ForeseenMerge {
  /** The catalogs that the merge releases, with the errors that make them unsafe. */
  readonly release: Foreseen;
  /** The state in which catalogs are checked: after the release, unless that is unsafe. */
  readonly after: CheckScene;
  /** The change with what the merge itself commits; undefined where it commits nothing of its own. */
  readonly committed: Change | undefined;
}

/** How changes are classified, and the day of the check. */
type Foreseeing = Knowledge & { readonly today: string };

/**
 * Classifies the change. Where it pins tags whose digests are known, it is classified again with them.
 *
 * @throws PipelineError as {@link classifyChange}
 */
export async function classifyPull(
  { objects, trees, policy }: Omit<CheckScene, 'change'>,
  { files, registry, digests }: ChangeParts,
): Promise<Classified> {
  const change = await classifyChange(objects, trees, policy, { files });
  const tags = await tagDigests(objects, change.pins, { base: trees.base, policy, registry, digests });
  if (tags.digests.size === 0) return { change, tags };
  const knowledge = { files, digests: tags.digests };
  return { change: await classifyChange(objects, trees, policy, knowledge), tags };
}

/** Foresees what the merge releases, and what the branch then has. An unsafe change releases nothing. */
export async function foreseeMerge(
  repository: Repository,
  scene: CheckScene,
  { today, ...knowledge }: Foreseeing,
): Promise<ForeseenMerge> {
  const { objects, policy, trees, change } = scene;
  const nothing = { tree: trees.merged, bundles: [], findings: [], unchecked: [], released: [] };
  const release =
    change.unsafe.length > 0 ? nothing : await foreseeRelease(repository, trees, { policy, today });
  if (release.tree === trees.merged) return { release, after: scene, committed: undefined };
  const then = { base: trees.base, merged: release.tree };
  const changeThen = await classifyChange(objects, then, policy, knowledge);
  const { unsafe } = changeThen;
  return {
    release: { ...release, findings: [...unsafe, ...release.findings] },
    after: unsafe.length > 0 ? scene : { objects, policy, trees: then, change: changeThen },
    // If the merge opens another pull request instead, that one has its own check.
    committed: policy.release?.mode === 'commit' ? changeThen : undefined,
  };
}

/** Finds what changes between two other trees, with what is known for this pull request. */
export function changesBetween(
  repository: Repository,
  policy: Policy,
  known: Foreseeing,
): (trees: Trees) => Promise<BothChanges> {
  const { objects } = repository;
  return async (trees) => {
    const change = await classifyChange(objects, trees, policy, known);
    const { committed } = await foreseeMerge(repository, { objects, policy, trees, change }, known);
    return { change, committed };
  };
}
