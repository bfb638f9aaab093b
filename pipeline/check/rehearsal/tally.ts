/** What a rehearsal keeps of the merges that it checks, one after the other. */
import type { Finding } from '../../../catalog/finding.ts';
import { parseJson } from '../../../catalog/json.ts';
import { UNCONFIRMED } from '../../../catalog/references/same-image.ts';
import { rule as UNMATCHED } from '../../../catalog/rules/layout/unmatched.ts';
import { PipelineError } from '../../error.ts';
import type { MergedCommit } from '../../git/merged-commits.ts';
import { type CheckReport, enforcedState, type ReportState } from '../report.ts';
import type { CheckedMerge } from './history.ts';
import type { LeftOutFiles } from './past-layouts.ts';

export interface RehearsedMerge {
  readonly commit: string;
  readonly date: string;
  readonly subject: string;
  /** Undefined where git names no account: permissions were not checked. */
  readonly author: string | undefined;
  readonly state: ReportState;
  /** Whether no approval would have helped. */
  readonly denied: boolean;
  readonly headline: string;
  readonly packages: readonly string[];
  /** Errors only. */
  readonly errors: readonly Finding[];
  /** Approvals that would have been missing, in words. */
  readonly needs: readonly string[];
  /** The people who could have given the approvals. */
  readonly asked: readonly string[];
}

export interface RuleCount {
  readonly rule: string;
  readonly errors: number;
  readonly warnings: number;
  /** Merges with a finding of the rule. */
  readonly merges: number;
}

/** What came of the merges that were checked so far. */
export class Tally {
  readonly merges: RehearsedMerge[] = [];
  readonly rules: Map<string, RuleCount> = new Map();
  readonly unchecked: { what: string; why: string }[];
  /** By commit, the files with blobs that are in no catalog. */
  readonly leftOut: Map<string, LeftOutFiles> = new Map();

  constructor(unchecked: readonly { readonly what: string; readonly why: string }[]) {
    this.unchecked = [...unchecked];
  }

  /** Counts a merge, or leaves it out with the reason: the check failed, or it says nothing about the merge. */
  take({ merge, outcome }: CheckedMerge): void {
    if (outcome instanceof PipelineError) {
      this.leave(merge, outcome.message);
      return;
    }
    const one = rehearsedMerge(merge, outcome);
    const why = isOnlyUnconfirmed(one) ? UNASKED : whyLayoutUnclear(one, this.leftOut.get(merge.id));
    if (why !== undefined) {
      this.leave(merge, why);
      return;
    }
    // Reports hold whole graphs, and their texts whole files: a copy stays, and counts.
    this.merges.push(detachedCopy(one));
    countRules(this.rules, outcome.findings);
  }

  /** Notes that a merge was not checked. */
  leave({ date, subject }: MergedCommit, why: string): void {
    this.unchecked.push({ what: `${date} ${subject}`, why });
  }
}

/** Why a merge says nothing: all of its errors are about blobs in no catalog, so the layout at its time is not clear. */
function whyLayoutUnclear({ errors }: RehearsedMerge, leftOut: LeftOutFiles = new Map()): string | undefined {
  const reasons = errors.map(({ rule, location: { file } }) =>
    rule === UNMATCHED.id ? leftOut.get(file) : undefined,
  );
  const [first] = errors;
  return first && !reasons.includes(undefined)
    ? `the layout at the time is not clear: ${first.location.file} has blobs (${reasons[0]})`
    : undefined;
}

const UNASKED = 'tags became digests, and no registry was asked which digests the tags name';

/** Whether a registry, which a rehearsal does not ask, could have settled everything that a merge fails by. */
function isOnlyUnconfirmed({ state, denied, errors }: RehearsedMerge): boolean {
  return state === 'failure' && !denied && errors.every(({ subject }) => subject === UNCONFIRMED);
}

/** What a rehearsal keeps of the report about one merge. */
function rehearsedMerge({ id, date, subject }: MergedCommit, report: CheckReport): RehearsedMerge {
  const { authority, findings, headline, packages } = report;
  const isDenied = authority.decision === 'deny';
  // A demand on the author is not an approval.
  const others = (authority.missing ?? []).filter(({ who }) => who !== 'author');
  return {
    commit: id,
    date,
    subject,
    author: authority.author,
    state: enforcedState(withoutUnknown(report)),
    denied: isDenied,
    headline,
    packages: packages.map(({ name }) => name),
    errors: findings.filter(({ severity }) => severity === 'error'),
    needs: authority.needs,
    asked: isDenied ? [] : [...new Set(others.flatMap(({ from }) => from))],
  };
}

/** Permissions that could not be checked do not hold a merge up here. */
function withoutUnknown(report: CheckReport): CheckReport {
  const { authority } = report;
  return authority.decision === 'not judged'
    ? { ...report, authority: { ...authority, decision: 'allow' } }
    : report;
}

/**
 * A copy with strings of its own: a part of a string keeps the whole string in memory, here whole files.
 */
function detachedCopy(merge: RehearsedMerge): RehearsedMerge {
  return parseJson(JSON.stringify(merge)) as RehearsedMerge;
}

/** Adds the findings of one merge to the counts. */
function countRules(counts: Map<string, RuleCount>, findings: readonly Finding[]): void {
  for (const rule of new Set(findings.map((finding) => finding.rule))) {
    const { errors, warnings, merges } = counts.get(rule) ?? { errors: 0, warnings: 0, merges: 0 };
    const countOf = (severity: Finding['severity']): number =>
      findings.filter((finding) => finding.rule === rule && finding.severity === severity).length;
    counts.set(rule, {
      rule,
      errors: errors + countOf('error'),
      warnings: warnings + countOf('warning'),
      merges: merges + 1,
    });
  }
}

/** The most errors first; rules with notes alone are left out. */
export function ruleCounts(counts: ReadonlyMap<string, RuleCount>): RuleCount[] {
  return [...counts.values()]
    .filter(({ errors, warnings }) => errors + warnings > 0)
    .sort((a, b) => b.errors - a.errors || b.warnings - a.warnings || (a.rule < b.rule ? -1 : 1));
}
