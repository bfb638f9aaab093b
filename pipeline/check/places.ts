/** Where catalogs are published after the merge: two that would take a tag from each other are said before. */

import type { Trees } from '../change/scene.ts';
import { policyAt } from '../config.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Policy } from '../policy/policy.ts';
import { sharedPlaces } from '../publish/shared.ts';
import type { Judgement } from './judge.ts';

/** @param policy the base branch's, whose layout says what a catalog is */
export async function judgePlaces({
  objects,
  trees,
  policy,
}: {
  readonly objects: ObjectReader;
  readonly trees: Trees;
  readonly policy: Policy;
}): Promise<Judgement[]> {
  const then = (await policyAt(objects, trees.merged)).policy?.publish;
  const { layout } = policy;
  const shared = then ? await sharedPlaces(objects, trees.merged, { layout, publish: then }) : [];
  if (shared.length === 0) return [];
  const before = await sharedPlaces(objects, trees.base, policy);
  const messages = new Set(before.map(({ message }) => message));
  const judgement = {
    findings: shared.filter(({ message }) => !messages.has(message)),
    known: shared.filter(({ message }) => messages.has(message)),
    diffs: [],
  };
  return [judgement];
}
