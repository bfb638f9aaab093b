/**
 * What is said of a pull request: the one source of every output. As JSON it is a public
 * interface, described by `docs/check-report.schema.json`.
 */
import type { Finding } from '../../catalog/finding.ts';
import type { PlacedDiff } from '../check/judge.ts';

export type Verdict = 'pass' | 'fail' | 'inconclusive';

export interface CheckReport {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'CheckReport';
  readonly verdict: Verdict;
  /** Who must act, and the one thing that is missing. One line. */
  readonly headline: string;
  readonly authority: AuthorityReport;
  /** Ids of git objects. */
  readonly base: string;
  readonly head: string;
  /** The tree that was judged: that of the merge. Absent when there is none. */
  readonly tree?: string;
  readonly policy: PolicyReport;
  readonly packages: readonly PackageReport[];
  /** Everything that counts, the worst first. */
  readonly findings: readonly Finding[];
  /** What the base branch has as well, and the pull request leaves as it is. */
  readonly known: readonly Finding[];
  readonly waived: readonly { readonly finding: Finding; readonly until: string; readonly reason: string }[];
  /** What changes in the catalogs, and what clusters will do otherwise. */
  readonly diffs: readonly PlacedDiff[];
  /** What was not looked at, and why. */
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

export interface AuthorityReport {
  readonly decision: 'allow' | 'needs' | 'deny' | 'not judged';
  readonly author?: string;
  readonly reasons: readonly string[];
  readonly needs: readonly string[];
}

export interface PolicyReport {
  /** Path on the base branch, or `built-in defaults`. */
  readonly source: string;
  /** Waivers that no longer hold. */
  readonly expired: readonly string[];
}

export interface PackageReport {
  readonly name: string;
  readonly catalogs: readonly string[];
  /** What is done to it: `add-entry`, `prune`, … */
  readonly classes: readonly string[];
  readonly details: readonly string[];
}
