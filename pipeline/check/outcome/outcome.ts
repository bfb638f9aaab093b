/**
 * From what was found to what is reported: waivers and the verdict.
 */
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import type { Change, PackageChange } from '../../change/change.ts';
import type { PlacedPath } from '../../change/path.ts';
import type { Merged } from '../../git/merge.ts';
import { presetSeverities } from '../../policy/presets/presets.ts';
import { POLICY_PATH, type PolicyRead } from '../../policy/read-policy.ts';
import { isEnforced } from '../../policy/severity.ts';
import { applyWaivers, type Waived } from '../../policy/waiver.ts';
import { placeText } from '../../text.ts';
import type { AuthorityDecision } from '../authority/authority.ts';
import { needText } from '../authority/missing-approvals.ts';
import { joinedDiffs, OF_BUNDLES } from '../content/catalog-rules.ts';
import type { Defects } from '../findings.ts';
import type {
  AuthorityReport,
  CheckReport,
  ContextCount,
  PackageReport,
  PolicyReport,
  ReleaseReport,
  RequestReport,
  Verdict,
} from '../report.ts';
import { gateReports } from './gates.ts';
import { headlineFor } from './headline.ts';
import { withinSize } from './report-size.ts';

/** The start of every check: the commits, and the policy of the base branch. */
export interface Start {
  readonly base: string;
  readonly head: string;
  readonly policy: PolicyRead & { readonly path: string };
  readonly today: string;
}

interface Checked extends Start {
  readonly kind: 'checked';
  readonly tree: string;
  readonly change: Change;
  readonly defects: Defects;
  /** Statistics of reading the untouched packages. */
  readonly count: ContextCount | undefined;
  /** The releases that the merge will make of new bundles. */
  readonly released: readonly ReleaseReport[];
  /** Login of the author; undefined if unknown. */
  readonly author: string | undefined;
  readonly authority: AuthorityDecision | undefined;
}

type Outcome =
  /** The base branch's policy cannot be read: nothing may be decided. */
  | (Start & { readonly kind: 'no policy' })
  /** It hung, crashed or needed too much. */
  | (Start & { readonly kind: 'ended'; readonly why: string })
  | (Start & { readonly kind: 'no merge'; readonly merged: Exclude<Merged, { kind: 'merged' }> })
  | Checked;

/** The report of a check, however it ended. */
export function reportOf(outcome: Outcome): CheckReport {
  switch (outcome.kind) {
    case 'no policy': {
      const { path } = outcome.policy;
      // The same path may be correct in the pull request.
      const where = path === POLICY_PATH ? ' on the base branch' : '';
      return uncheckedReport(outcome, 'fail', `cannot read the policy ${path}${where}`);
    }
    case 'ended':
      return uncheckedReport(outcome, 'inconclusive', outcome.why);
    case 'no merge':
      return uncheckedReport(outcome, 'inconclusive', mergeText(outcome.merged));
    case 'checked':
      return checkedReport(outcome);
  }
}

/** Why there is no merge, and what the author can do. */
function mergeText(merged: Exclude<Merged, { kind: 'merged' }>): string {
  if (merged.kind === 'unrelated') return 'base and head have no common history: rebase onto the base branch';
  const [first = '', ...more] = merged.paths;
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return `base and head change the same lines of ${JSON.stringify(first)}${others}: resolve the conflict`;
}

/** A report in which nothing of the pull request was looked at. */
function uncheckedReport(outcome: Start, verdict: Verdict, headline: string): CheckReport {
  return {
    ...head(outcome),
    verdict,
    headline,
    authority: { decision: 'not judged', reasons: [], needs: [], warnings: [] },
    packages: [],
    findings: outcome.policy.findings,
    known: [],
    waived: [],
    diffs: [],
    holds: [],
    waitsFor: [],
    unchecked: [{ what: 'the pull request', why: headline }],
  };
}

/** The first fields of a report: what was checked, under which policy. */
function head(
  outcome: Start,
): Pick<CheckReport, 'apiVersion' | 'kind' | 'base' | 'head' | 'policy' | 'enforce'> {
  return {
    apiVersion: 'portolan/v1alpha1',
    kind: 'CheckReport',
    base: outcome.base,
    head: outcome.head,
    policy: policyReport(outcome.policy, []),
    ...(outcome.policy.policy?.enforce === 'off' ? { enforce: 'off' } : {}),
  };
}

/** Which policy a report is of. @param expired waivers that hold no longer, each with its place for whoever removes it */
function policyReport({ defaults, path }: Start['policy'], expired: Waived['expired']): PolicyReport {
  return {
    source: defaults ? 'built-in defaults' : path,
    expired: expired.map(({ rule, package: name, until, location }) => {
      const text = `${rule} for ${name}, until ${until}`;
      return location ? `${text} (${placeText(location)})` : text;
    }),
  };
}

/** The report of a check that read everything: waivers are applied, and rules that are not enforced do not count. */
function checkedReport(outcome: Checked): CheckReport {
  const { change, defects, authority, policy, today, count } = outcome;
  const { results, references, incomplete, templatesAlone, fleet } = defects;
  const known = results.flatMap((result) => result.known);
  const found = foundIn(outcome);
  const { findings, waived, expired } = applyWaivers(found, policy.policy?.waivers ?? [], today);
  const sorted = [...findings].sort(compareFindings);
  const errors = sorted.filter(({ severity }) => severity === 'error');
  const closing = new Set(closingFindings(outcome));
  const isCounted = (finding: Finding): boolean =>
    closing.has(finding) || policy.policy === undefined || isEnforced(policy.policy, finding.rule);
  const uncounted = new Set(errors.filter((finding) => !isCounted(finding)));
  const notEnforced = [...new Set([...uncounted].map(({ rule }) => rule))].sort();
  const failed = errors.length > uncounted.size;
  const isUnclear = references.unanswered || incomplete !== undefined;
  const unlessFailed: Verdict = isUnclear ? 'inconclusive' : 'pass';
  const verdict: Verdict = failed ? 'fail' : unlessFailed;
  const people = authorityReport(authority, outcome.author);
  return withinSize({
    ...head(outcome),
    verdict,
    headline: headlineFor({
      verdict,
      findings: sorted.filter((finding) => !uncounted.has(finding)),
      uncounted: uncounted.size,
      authority,
      unchecked: references.unanswered ? references.unchecked : [],
      incomplete,
      template: templatesAlone[0],
    }),
    authority: people,
    tree: outcome.tree,
    policy: policyReport(policy, expired),
    packages: [...change.packages.values()].map(packageReport),
    findings: sorted,
    ...(notEnforced.length > 0 ? { notEnforced } : {}),
    known: [...known].sort(compareFindings),
    waived: waived.map(({ finding, waiver }) => ({ finding, until: waiver.until, reason: waiver.reason })),
    diffs: joinedDiffs(results.flatMap(({ diffs }) => diffs)),
    holds: authority?.holds ?? [],
    ...(authority && authority.byHand.length > 0 ? { byHand: authority.byHand } : {}),
    waitsFor: [],
    disconnected: defects.disconnected,
    ...(fleet.report ? { fleet: fleet.report } : {}),
    ...(outcome.released.length > 0 ? { released: outcome.released } : {}),
    ...gatesIn(outcome, { found, known }),
    unchecked: [
      ...references.unchecked,
      ...defects.unchecked,
      ...templatesAlone.map((path) => ({ what: path, why: TEMPLATE_ALONE })),
    ],
    ...(count ? { context: count } : {}),
  });
}

const TEMPLATE_ALONE =
  'it is a template, and the pull request changes no catalog: commit the catalog that it is rendered to';

/** What is wrong with the change, the policy and the catalogs. */
function foundIn(outcome: Checked): Finding[] {
  const { policy, defects } = outcome;
  const { results, references } = defects;
  const closing = closingFindings(outcome);
  // Rules may report the same defect once more.
  const reportedPlaces = new Set(closing.map(placeKey));
  const ofCatalogs = joinedFindings(results.flatMap(({ findings }) => findings));
  return [
    ...closing,
    ...policy.findings,
    ...ofCatalogs.filter((finding) => !reportedPlaces.has(placeKey(finding))),
    ...references.findings,
  ];
}

/** What the gates of the policy's presets, such as the pipeline of OperatorHub, would report. */
function gatesIn(
  { change, policy: { policy } }: Checked,
  { found, known }: { readonly found: readonly Finding[]; readonly known: readonly Finding[] },
): Pick<CheckReport, 'gates'> {
  const presets = presetSeverities(policy?.presets ?? []);
  if (!policy || presets.size === 0) return {};
  // Another gate reports known findings as well, because it does not compare with the base branch. But it tests only the
  // bundles that the pull request adds or changes.
  const bundles = new Set(change.paths.filter(({ area }) => area === 'bundle').map(bundleKey));
  const isOfGate = ({ rule, location }: Finding): boolean => {
    if (!presets.has(rule)) return false;
    const place = OF_BUNDLES.has(rule) ? policy.layout.match(location.file) : undefined;
    return place?.kind !== 'bundle' || bundles.has(bundleKey(place));
  };
  return { gates: gateReports(policy, [...found, ...joinedFindings(known.filter(isOfGate))]) };
}

/** What makes a change unsafe to read: it fails the check whatever the policy says of its rule. */
function closingFindings({ change }: Checked): Finding[] {
  return [...change.unsafe, ...change.ownerDefects];
}

/** A key of a bundle directory. */
function bundleKey({ package: packageName, version }: Pick<PlacedPath, 'package' | 'version'>): string {
  return JSON.stringify([packageName, version]);
}

/** A key that is equal for findings with the same text about the same place. */
function placeKey({ rule, message, location }: Finding): string {
  return JSON.stringify([rule, message, location]);
}

const ABOUT_BUNDLES: ReadonlySet<string> = new Set(
  RULES.filter(({ aboutBundles }) => aboutBundles).map(({ id }) => id),
);

/**
 * Merges findings of rules about bundles that are equal in several catalogs and channels into one, at the first place. Those of
 * all other rules stay apart.
 */
function joinedFindings(findings: readonly Finding[]): Finding[] {
  const alike = new Map<string, Finding>();
  for (const [i, finding] of findings.entries()) {
    const { rule, severity, message, package: packageName, catalogs = [], installed = [] } = finding;
    const key = ABOUT_BUNDLES.has(rule) ? JSON.stringify([rule, severity, message, packageName]) : String(i);
    const known = alike.get(key);
    if (!known) alike.set(key, finding);
    else {
      alike.set(key, {
        ...known,
        catalogs: [...new Set([...(known.catalogs ?? []), ...catalogs])],
        installed: [...new Set([...(known.installed ?? []), ...installed])],
      });
    }
  }
  return [...alike.values()];
}

function packageReport({ name, catalogs, classes, details }: PackageChange): PackageReport {
  return { name, catalogs, classes: [...classes], details };
}

/** A decision about approvals in the form of the report; without a decision, permissions were not checked. */
function authorityReport(authority: AuthorityDecision | undefined, author = ''): AuthorityReport {
  if (!authority) return { decision: 'not judged', reasons: [], needs: [], warnings: [] };
  return {
    decision: authority.authority,
    author,
    warnings: authority.warnings,
    reasons: authority.subjects.flatMap(({ subject, reasons }) =>
      reasons.map((reason) => `${subject}: ${reason}`),
    ),
    needs: authority.needs.map((need) => needText([need])),
    missing: authority.needs,
  };
}

/** A report of a pull request on a forge, with the checks that it waits for. */
export function onForge(
  report: CheckReport,
  request: RequestReport,
  waitsFor: readonly string[],
): CheckReport {
  const whole = { ...report, request, waitsFor };
  const mayMerge =
    report.verdict === 'pass' && report.authority.decision === 'allow' && report.holds.length === 0;
  const [first] = waitsFor;
  return mayMerge && first !== undefined
    ? { ...whole, headline: `allowed, and all checks passed, but waiting: ${first}` }
    : whole;
}
