/**
 * What the tags of the base branch stand for, where a pull request puts digests in their place: as the base's
 * own lock says, and the registry. What the pull request's lock says is its author's word.
 */
import { InvalidLock, readLock } from '../../../catalog/references/lock.ts';
import type { TagDigests } from '../../../catalog/references/same-image.ts';
import { lookupKey } from '../../../catalog/references/site.ts';
import { lookUp } from '../../catalogs/references/look-up.ts';
import type { PinnedTag } from '../../change/change.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';
import type { Registry } from '../../ports.ts';

export interface Confirmed {
  readonly digests: TagDigests;
  /** Why a registry that may be asked did not answer; asking again may help. */
  readonly unanswered: readonly string[];
}

interface ConfirmRequest {
  /** Id of the base's commit. */
  readonly base: string;
  readonly policy: Policy;
  readonly registry: Registry | undefined;
  /** Digests of tags, as a registry just returned them. */
  readonly digests: TagDigests | undefined;
}

/** Largest lock that is read, in bytes. */
const LOCK_BYTES = 16 * 1024 * 1024;

/**
 * The digests that tags name, of those tags that a change pins: by locks of the base branch and by registries that the
 * policy allows.
 */
export async function tagDigests(
  objects: ObjectReader,
  pins: readonly PinnedTag[],
  { base, policy, registry, digests: given = new Map() }: ConfirmRequest,
): Promise<Confirmed> {
  const digests = new Map<string, Set<string>>();
  const add = (tag: string, digest: string): void => {
    digests.set(tag, (digests.get(tag) ?? new Set()).add(digest));
  };
  const pinnedTags = new Map(pins.map(({ tag }) => [lookupKey(tag), tag]));
  for (const [tag, known] of given) if (pinnedTags.has(tag)) for (const digest of known) add(tag, digest);
  for (const catalog of new Set(pins.map((pin) => pin.catalog))) {
    const lock = await lockAt(objects, base, policy.registries.lock.replaceAll('{catalog}', catalog));
    for (const [tag, digest] of lock) if (pinnedTags.has(tag)) add(tag, digest);
  }
  const { allow } = policy.registries;
  const asked = registry && allow.length > 0 ? [...pinnedTags.values()] : [];
  const unanswered = new Set<string>();
  if (registry && asked.length > 0) {
    for (const [tag, lookup] of await lookUp(asked, { registry, allows: repositoryMatcher(allow) })) {
      if (lookup.kind === 'found') add(tag, lookup.digest);
      // A digest in the lock is enough: then the registry's answer is not needed.
      else if (lookup.kind === 'unknown' && !digests.has(tag)) unanswered.add(lookup.why);
    }
  }
  return { digests, unanswered: [...unanswered] };
}

/** The digests of tags in a lock file; none if there is no valid one, because then it confirms nothing. */
async function lockAt(
  objects: ObjectReader,
  commit: string,
  path: string,
): Promise<ReadonlyMap<string, string>> {
  const entry = await entryAt(objects, commit, path);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return new Map();
  const { bytes } = await objects.read(entry.id, LOCK_BYTES);
  try {
    return readLock(bytes.toString('utf8')).digests;
  } catch (error) {
    if (error instanceof InvalidLock) return new Map();
    throw error;
  }
}
