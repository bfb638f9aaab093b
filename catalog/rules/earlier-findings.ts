/**
 * What a change brings, distinguished from what was there before: a finding is the same one by its rule, its package, its
 * channel and what it is about, never by its text. What maintainers already live with must not hold up a release.
 */
import { type Finding, milderSeverity } from '../finding.ts';
import { groupedBy } from '../go/grouped.ts';

/**
 * Tells which findings were there before: whatever their lines, their words, and the head that they name. What is
 * worse than before is news, and so is an installation that was not affected before, unless the rule names a subject.
 *
 * @param isCopy whether a finding is of a channel that is new, and may copy what another one has
 */
export function knownFrom(
  before: readonly Finding[],
  isCopy: (finding: Finding) => boolean = () => false,
): (finding: Finding) => boolean {
  const earlier = groupedBy(before, identityOf);
  const anywhere = groupedBy(before, inAnyChannel);
  // One cause may have a thousand findings: whom they affect is found out once for each severity.
  const known = new Map<string, Affected>();
  // Whom the same finding affected before, if it was as bad. For a copied channel, that of any channel counts.
  const affectedBy = (finding: Finding, isCopied: boolean): Affected => {
    const identity = isCopied ? inAnyChannel(finding) : identityOf(finding);
    const key = `${finding.severity} ${identity} ${isCopied}`;
    if (known.has(key)) return known.get(key);
    const same = ((isCopied ? anywhere : earlier).get(identity) ?? []).filter(
      (one) => !isWorse(finding, one),
    );
    const found = same.length === 0 ? undefined : new Set(same.flatMap(({ installed = [] }) => installed));
    known.set(key, found);
    return found;
  };
  return (finding) => {
    // Only by its subject a finding is known to be the one of another channel.
    const isCopied = finding.subject !== undefined && isCopy(finding);
    const affected = affectedBy(finding, isCopied);
    if (!affected) return false;
    // A finding with a subject is about that, whomever it affects.
    if (finding.subject !== undefined && !isCopied) return true;
    return (finding.installed ?? []).every((version) => affected.has(version));
  };
}

/** The installations that findings affect; undefined where there are none as bad. */
type Affected = ReadonlySet<string> | undefined;

/** A key that two findings share if the same rule reports the same about the same object. */
function identityOf({ rule, package: packageName = '', channel = '', subject = '' }: Finding): string {
  return JSON.stringify([rule, packageName, channel, subject]);
}

function inAnyChannel(finding: Finding): string {
  return identityOf({ ...finding, channel: '' });
}

function isWorse(finding: Finding, earlier: Finding): boolean {
  return milderSeverity(finding.severity, earlier.severity) !== finding.severity;
}
