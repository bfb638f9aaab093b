/** What findings mean for clusters, whichever rule reports them. */
import type { Finding } from '../finding.ts';
import { RULES } from './index.ts';
import type { Effect } from './rule.ts';

const EFFECTS: ReadonlyMap<string, Effect> = new Map(
  RULES.flatMap(({ id, effect }) => (effect ? [[id, effect] as const] : [])),
);

/** What happens to the installations that a finding names; undefined where it names none, or they are not stranded. */
export function effectOf({ rule, installed = [] }: Finding): Effect | undefined {
  return installed.length === 0 ? undefined : EFFECTS.get(rule);
}

/** Whether other findings say of all installations of a finding that they are stranded under the same OLM. */
export function areStrandedIn(others: readonly Finding[]): (finding: Finding) => boolean {
  const stranded = new Set(others.flatMap(installationsOf));
  return (finding) => {
    const all = installationsOf(finding);
    return all.length > 0 && all.every((one) => stranded.has(one));
  };
}

function installationsOf(finding: Finding): string[] {
  const effect = effectOf(finding);
  const { package: of, channel, installed = [] } = finding;
  return effect ? installed.map((version) => JSON.stringify([effect.olm, of, channel, version])) : [];
}

/** By the harm that they report, rules of which a finding hurts clusters: 1 is the worst. */
export const HARM_RANKS: ReadonlyMap<string, number> = new Map(
  RULES.flatMap(({ id, harm }) => (harm ? [[id, harm.rank] as const] : [])),
);
