/** The policy as the merge will leave it: what is wrong with it, and catalogs that would take a tag from each other. */

import type { Change } from '../../change/change.ts';
import type { Trees } from '../../change/classification-input.ts';
import { sharedPlaces } from '../../change/shared-places.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Policy } from '../../policy/policy.ts';
import { POLICY_PATH, policyAt } from '../../policy/read-policy.ts';
import type { CatalogResult } from './catalog-rules.ts';

interface PolicyScene {
  readonly objects: ObjectReader;
  readonly trees: Trees;
  readonly change: Pick<Change, 'paths'>;
  /** The base branch's policy, whose layout defines the catalogs. */
  readonly policy: Policy;
}

/**
 * Findings about the merged policy, if the pull request changes it, and about places to which two catalogs
 * would publish. Shared places that the base branch has already are reported as known.
 */
export async function checkPolicyAfter({
  objects,
  trees,
  change,
  policy: { layout, publish },
}: PolicyScene): Promise<CatalogResult[]> {
  const brings = change.paths.some(({ path }) => path === POLICY_PATH);
  const after = brings ? await policyAt(objects, trees.merged) : undefined;
  const policyErrors = after && !after.policy ? after.findings : [];
  const publishAfter = after?.policy?.publish ?? publish;
  const shared = await sharedPlaces(objects, trees.merged, { layout, publish: publishAfter });
  if (shared.length + policyErrors.length === 0) return [];
  const before = await sharedPlaces(objects, trees.base, { layout, publish });
  const messages = new Set(before.map(({ message }) => message));
  const result = {
    findings: [...policyErrors, ...shared.filter(({ message }) => !messages.has(message))],
    known: shared.filter(({ message }) => messages.has(message)),
    diffs: [],
  };
  return [result];
}
