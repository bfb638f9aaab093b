/**
 * What a change brings, told from what was there before: a finding is the same one by its rule, its package, its
 * channel and what it is about, never by its text. What maintainers already live with must not hold up a release.
 */
import { type Finding, milder } from '../finding.ts';

/**
 * Tells which findings were there before: whatever their lines, their words, and the head that they name. What is
 * worse than before is news, and so is an installation that was not affected before, unless the rule names a subject.
 */
export function knownFrom(before: readonly Finding[]): (finding: Finding) => boolean {
  const earlier = new Map<string, Finding[]>();
  for (const finding of before) {
    const key = identityOf(finding);
    const known = earlier.get(key);
    if (known) known.push(finding);
    else earlier.set(key, [finding]);
  }
  return (finding) => {
    const same = (earlier.get(identityOf(finding)) ?? []).filter((one) => !isWorse(finding, one));
    if (same.length === 0) return false;
    if (finding.subject !== undefined) return true;
    const affected = new Set(same.flatMap(({ installed = [] }) => installed));
    return (finding.installed ?? []).every((version) => affected.has(version));
  };
}

/** What makes two findings the same: the same rule says the same of one thing. */
export function identityOf({ rule, package: of = '', channel = '', subject = '' }: Finding): string {
  return JSON.stringify([rule, of, channel, subject]);
}

function isWorse(finding: Finding, earlier: Finding): boolean {
  return milder(finding.severity, earlier.severity) !== finding.severity;
}
