/**
 * The result of a check, the one source of every output. As JSON it is a public
 * interface, described by `docs/check-report.schema.json`.
 */

import type { Finding } from '../../catalog/finding.ts';
import type { PackageDiff } from '../../catalog/olm/diff.ts';
import type { FleetReport } from '../../catalog/olm/fleet/count.ts';
import type { MergePolicy } from '../policy/policy.ts';
import type { Need } from './authority/missing-approvals.ts';
import type { Suggestion } from './suggestions.ts';

export type Verdict = 'pass' | 'fail' | 'inconclusive';

export interface CheckReport {
  readonly apiVersion: 'portolan/v1alpha1';
  readonly kind: 'CheckReport';
  readonly verdict: Verdict;
  /** The people who must act, and the one thing that is missing, in one line. `headlineOf` adds the effect of `enforce`. */
  readonly headline: string;
  /** Present where the policy blocks nothing: verdict and authority are what they would be, the state is success. */
  readonly enforce?: 'off';
  /** Rules that the policy does not enforce, of which the findings have errors; absent where there are none. */
  readonly notEnforced?: readonly string[];
  readonly authority: AuthorityReport;
  /** Ids of git objects. */
  readonly base: string;
  readonly head: string;
  /** The tree that was checked: that of the merge. Absent if there is none. */
  readonly tree?: string;
  readonly policy: PolicyReport;
  readonly packages: readonly PackageReport[];
  /** Everything that counts, the worst first. */
  readonly findings: readonly Finding[];
  /** Corrections of lines that the pull request writes; absent when there are none. */
  readonly suggestions?: readonly Suggestion[];
  /** Findings that the base branch has as well, and that the pull request leaves unchanged. */
  readonly known: readonly Finding[];
  readonly waived: readonly { readonly finding: Finding; readonly until: string; readonly reason: string }[];
  /** The changes in the catalogs, and their effect on clusters. */
  readonly diffs: readonly PlacedDiff[];
  /** Why it is not merged although nothing is wrong with it. */
  readonly holds: readonly string[];
  /** Why Portolan does not merge what is allowed; people may. */
  readonly byHand?: readonly string[];
  /** Checks of others that the policy asks for and that have not passed. */
  readonly waitsFor: readonly string[];
  /** The pull request on GitHub; absent for what was checked elsewhere. */
  readonly request?: RequestReport;
  /** The bundles of the touched packages that disconnected clusters can install. */
  readonly disconnected?: readonly DisconnectedReport[];
  /** The effect of the merge on a fleet, in numbers of clusters; absent without a fleet. */
  readonly fleet?: FleetReport;
  /** The releases of new bundles after the merge. Their catalogs are checked with the others. */
  readonly released?: readonly ReleaseReport[];
  /** Parts left out to keep the report within its size limit, such as a list; absent if it is complete. */
  readonly omitted?: readonly string[];
  /** The results of the gates in the policy's presets; absent without presets. */
  readonly gates?: readonly GateReport[];
  /** Parts that were not checked, and why. */
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
  /** Statistics of reading the untouched packages; absent if there are none. */
  readonly context?: ContextCount;
}

/** Objects read and fetched for the untouched packages. */
export interface ContextCount {
  readonly files: number;
  /** Of the files as they are in the repository. */
  readonly bytes: number;
  /** Files that came from the remote repository, with their bytes; requests that were made for them alone. */
  readonly fetched: number;
  readonly fetchedBytes: number;
  readonly requests: number;
}

/** The changes in a package, and the catalogs that have them. */
export interface PlacedDiff extends PackageDiff {
  readonly catalogs: readonly string[];
}

export interface RequestReport {
  /** `owner/name`. */
  readonly repository: string;
  readonly number: number;
  /** The branch that it is for. */
  readonly branch: string;
  readonly merge: MergePolicy;
  /** Whether suggestions are offered in a review. */
  readonly suggestions: boolean;
  /** Whether to set a label with the result. */
  readonly labels?: boolean;
  /** Whether to request the missing reviews. */
  readonly ask: boolean;
  /** Digest of what the report was made from: the pull request's state and its reviews. */
  readonly basis?: string;
  /** Open pull requests with the same head whose branches are not gated. */
  readonly ungated?: readonly { readonly number: number; readonly branch: string }[];
}

/** The state of a commit's status: nothing is missing, somebody must act or wait, or the author must correct it. */
export type ReportState = 'success' | 'pending' | 'failure';

/** The state to set on the commit: success where the policy enforces nothing. */
export function stateOf(report: CheckReport): ReportState {
  return report.enforce === 'off' ? 'success' : enforcedState(report);
}

/** The state that an enforcing policy would lead to. */
export function enforcedState({ verdict, authority, holds, waitsFor }: CheckReport): ReportState {
  if (verdict === 'fail' || authority.decision === 'deny') return 'failure';
  const missing = verdict !== 'pass' || authority.decision !== 'allow' || holds.length + waitsFor.length > 0;
  return missing ? 'pending' : 'success';
}

const WOULD_HAVE: Readonly<Record<ReportState, string>> = {
  success: 'would have passed',
  pending: 'would have waited',
  failure: 'would have failed',
};

/** The first line of each output. Without enforcement, it states what would have happened. */
export function headlineOf(report: CheckReport): string {
  const { enforce, headline } = report;
  return enforce === 'off' ? `${WOULD_HAVE[enforcedState(report)]}: ${headline}` : headline;
}

/** The parts that the policy does not enforce, one line for each. */
export function notEnforcedLines({ enforce, notEnforced = [] }: CheckReport): string[] {
  return [
    ...(enforce === 'off' ? ['observe only: the policy has enforce: off, so nothing is blocked'] : []),
    ...notEnforced.map((rule) => `not enforced: errors of ${rule} do not fail the check`),
  ];
}

/** The result that another gate would have, by its own checks. */
export interface GateReport {
  /** Name of the preset. */
  readonly preset: string;
  /** The gate, in words. */
  readonly gate: string;
  /** Its sources, and their day, `YYYY-MM-DD`. */
  readonly source: string;
  readonly date: string;
  readonly verdict: 'pass' | 'fail';
  /** The checks that would report something. */
  readonly checks: readonly { readonly check: string; readonly errors: number; readonly warnings: number }[];
  readonly notChecked: readonly { readonly check: string; readonly why: string }[];
}

export interface ReleaseReport {
  readonly package: string;
  readonly version: string;
  /** The bundle's image, by digest, which the merge pushes. */
  readonly image: string;
  /** A pull request, or a commit on the branch. */
  readonly by: 'propose' | 'commit';
  /** Paths that it changes; empty when the pull request has them. */
  readonly files: readonly string[];
}

export interface DisconnectedReport {
  readonly catalogs: readonly string[];
  /** Bundles of the touched packages, and how many of them a disconnected node can pull in full. */
  readonly bundles: number;
  readonly ready: number;
  /** Bundles of which nothing is known to be missing, but whose deployments the catalog does not hold; absent for none. */
  readonly unchecked?: number;
  /** The bundles that the pull request makes worse, as `package/bundle`, and each missing reference with its reason. */
  readonly worse: readonly { readonly bundle: string; readonly missing: readonly string[] }[];
}

export interface AuthorityReport {
  /** The last one stands for permissions that were not checked. */
  readonly decision: 'allow' | 'needs' | 'deny' | 'not judged';
  readonly author?: string;
  readonly reasons: readonly string[];
  readonly needs: readonly string[];
  /** The same, each with who can give it. */
  readonly missing?: readonly Need[];
  /** Owners' entries that do not count, and what is odd about the commits. */
  readonly warnings: readonly string[];
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
  /** The kind of change: `add-entry`, `prune`, … */
  readonly classes: readonly string[];
  /** What is changed, in words. */
  readonly details: readonly string[];
}
