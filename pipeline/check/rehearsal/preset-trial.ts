/** Whether the latest merges of a branch meet what a preset asks for: a gate that they fail is not proposed. */
import type { Finding } from '../../../catalog/finding.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { PipelineError } from '../../error.ts';
import { mergedCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { PresetName } from '../../policy/presets/preset.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { checkedMerges } from './history.ts';
import type { RehearsalRequest } from './rehearsal.ts';

/** How many of the latest merges are looked at, and how many of those that change packages decide. */
const MOST_MERGES = 100;
const MOST_CHECKED = 3;

interface TrialRequest extends Pick<RehearsalRequest, 'head' | 'policy'> {
  readonly presets: readonly PresetName[];
}

/**
 * Checks the latest merges that change packages with presets.
 *
 * @returns the first error of each preset that they fail
 */
export async function failedPresets(
  repository: Repository,
  { head, policy, presets }: TrialRequest,
): Promise<Map<PresetName, Finding>> {
  const failed = new Map<PresetName, Finding>();
  if (presets.length === 0) return failed;
  const ownRules = presets.map((name) => ({ name, rules: rulesOf(policy.bytes, name) }));
  const [tip = ''] = await repository.resolve([head]);
  const merges = (await mergedCommits(repository, tip, [])).slice(-MOST_MERGES).reverse();
  const asked = { tip, paths: [], merges, more: () => ({ policy, presets }) };
  let checked = 0;
  for await (const { outcome } of checkedMerges(repository, asked, () => undefined)) {
    if (outcome instanceof PipelineError || outcome.packages.length === 0) continue;
    for (const { name, rules } of ownRules) {
      const error = outcome.findings.find(({ rule, severity }) => severity === 'error' && rules.has(rule));
      if (error && !failed.has(name)) failed.set(name, error);
    }
    if (++checked === MOST_CHECKED) break;
  }
  return failed;
}

/** Rules that are errors with a preset, and not without it. */
function rulesOf(bytes: Uint8Array, preset: PresetName): Set<string> {
  const { policy } = readPolicy(bytes);
  if (!policy) return new Set();
  const [without, withIt] = [[], [preset]].map((presets) => severitiesOf({ ...policy, presets }));
  return new Set(
    RULES.flatMap((rule) => (withIt?.(rule) === 'error' && without?.(rule) !== 'error' ? [rule.id] : [])),
  );
}
