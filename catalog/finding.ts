/**
 * Findings: everything that is wrong with what people wrote. All are collected, none
 * stops the others. What could not be done is a PipelineError instead.
 */

import { compareText } from './go/text.ts';

export type Severity = 'error' | 'warning' | 'info';

/** A place in a file: lines and columns count from 1, columns in UTF-16 units as in SARIF. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The scalar at the location reads `found`; it should read `wanted`, or, as the value of a member, be followed by
 * another member, written as YAML.
 */
export type Correction = { readonly location: Location; readonly found: string } & (
  | { readonly kind: 'replace'; readonly wanted: string }
  | { readonly kind: 'add'; readonly member: string }
);

export interface Finding {
  /** Identifier of the rule, such as `graph/stranded`. */
  readonly rule: string;
  readonly severity: Severity;
  /** What is wrong: which object, what was found, what was expected. One line. */
  readonly message: string;
  readonly location: Location;
  /** What to do; where possible the line to write. */
  readonly hint?: string;
  /** What would make it go away by another text on one line. */
  readonly correction?: Correction;
  readonly package?: string;
  /** Names of the catalogs in which the same content has this finding. */
  readonly catalogs?: readonly string[];
  readonly channel?: string;
  /**
   * What the finding is about beside its package and channel, the same before and after a release. With rule, package
   * and channel it makes the finding the same one again; without it each affected installation is one.
   */
  readonly subject?: string;
  /** Versions of installations that are affected, or names of bundles that do not end with `.v` and the version. */
  readonly installed?: readonly string[];
  /** How many clusters of a known fleet have one of these installations. */
  readonly clusters?: number;
}

/** Findings of one kind of check at most: a thousand of them take a megabyte, and nobody reads as many. */
export const MOST_FINDINGS = 200_000;

/** Adds a finding. Behind the limit there is one that says so, and nothing more is added. */
export function addFinding(findings: Finding[], finding: Finding): void {
  if (findings.length < MOST_FINDINGS) findings.push(finding);
  else if (findings.length === MOST_FINDINGS) findings.push({ ...TOO_MANY, location: finding.location });
}

const TOO_MANY = {
  rule: 'fbc/limits',
  severity: 'error',
  message: `there are more than ${MOST_FINDINGS} findings, and no others are reported`,
  hint: 'correct these first',
} as const;

/** The beginning of a file. */
export function startOf(file: string): Location {
  return { file, line: 1, column: 1 };
}

/** Order of severities, the worst first. */
const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** The one of two severities that weighs less. */
export function milderSeverity(a: Severity, b: Severity): Severity {
  return RANK[a] > RANK[b] ? a : b;
}

/** Sorts findings for people: worst first, then by place. */
export function compareFindings(a: Finding, b: Finding): number {
  return (
    RANK[a.severity] - RANK[b.severity] ||
    compareText(a.location.file, b.location.file) ||
    a.location.line - b.location.line ||
    a.location.column - b.location.column ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message)
  );
}

/** Two findings are the same whatever line they stand on. */
export function findingIdentity({ rule, message, location }: Finding): string {
  return JSON.stringify([rule, message, location.file]);
}
