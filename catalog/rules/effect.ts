/** The effect of findings on clusters, for all rules. */
import type { Finding } from '../finding.ts';
import { RULES } from './index.ts';
import type { Effect } from './rule.ts';

const EFFECTS: ReadonlyMap<string, Effect> = new Map(
  RULES.flatMap(({ id, effect }) => (effect ? [[id, effect] as const] : [])),
);

/** The effect on the installations that a finding names; undefined if it names none, or if they are not stranded. */
export function effectOf({ rule, installed = [] }: Finding): Effect | undefined {
  return installed.length === 0 ? undefined : EFFECTS.get(rule);
}

/** Whether other findings report all installations of a finding as stranded under the same OLM version. */
export function areStrandedIn(others: readonly Finding[]): (finding: Finding) => boolean {
  const stranded = new Set(others.flatMap(installationsOf));
  return (finding) => {
    const all = installationsOf(finding);
    return all.length > 0 && all.every((one) => stranded.has(one));
  };
}

/** The installations that a finding is about, as texts to compare; none for a finding without an effect. */
function installationsOf(finding: Finding): string[] {
  const effect = effectOf(finding);
  const { package: packageName, channel, installed = [] } = finding;
  return effect
    ? installed.map((version) => JSON.stringify([effect.olm, packageName, channel, version]))
    : [];
}

/** By the harm that they report, rules of which a finding hurts clusters: 1 is the worst. */
export const HARM_RANKS: ReadonlyMap<string, number> = new Map(
  RULES.flatMap(({ id, harm }) => (harm ? [[id, harm.rank] as const] : [])),
);
