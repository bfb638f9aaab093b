/**
 * Findings as SARIF 2.1.0, which GitHub's code scanning and editors read.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 * @see https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
 */
import type { Finding, Severity } from '../../catalog/finding.ts';
import type { CheckReport } from '../check/report.ts';
import type { Suggestion } from '../check/suggestions.ts';
import { POLICY_PATH } from '../policy/read-policy.ts';
import { plainLines } from '../text.ts';
import { findingPrints } from './code-quality.ts';
import { HOME, ruleOf, rulePage } from './rule-help.ts';

declare const PORTOLAN_VERSION: string;

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

/** Known and waived findings are left out where they are not given: then no result says whether it is new. */
type SarifFindings = Pick<CheckReport, 'findings' | 'suggestions'> &
  Partial<Pick<CheckReport, 'known' | 'waived'>>;

/** The findings as SARIF, which GitHub shows as alerts. */
export function sarifReport(report: SarifFindings): string {
  const results = resultsOf(report);
  const ids = [...new Set(results.map(({ finding }) => finding.rule))].sort();
  const printOf = findingPrints();
  const run = {
    tool: { driver: { ...program(), informationUri: HOME, rules: ids.map(descriptorOf) } },
    columnKind: 'utf16CodeUnits',
    results: results.map(({ finding, level, state }) => {
      const { rule, message, hint, catalogs, package: packageName } = finding;
      return {
        ruleId: rule,
        ruleIndex: ids.indexOf(rule),
        level,
        ...state,
        message: {
          text: withoutLinks(plainLines(hint === undefined ? message : `${message}\nFix: ${hint}`)),
        },
        locations: [{ physicalLocation: placeOf(finding) }],
        partialFingerprints: fingerprintsOf(printOf(finding)),
        ...fixesOf((report.suggestions ?? []).filter((one) => one.rule === rule && one.message === message)),
        properties: {
          ...(packageName === undefined ? {} : { package: packageName }),
          ...(catalogs ? { catalogs } : {}),
        },
      };
    }),
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/**
 * A message in which nothing is a link: SARIF makes one of `[text](address)`.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html#_Toc34317424
 */
function withoutLinks(text: string): string {
  // An even number of backslashes escapes only backslashes.
  return text.replaceAll(/(?<!\\)((?:\\\\)*)\]\(/g, '$1\\](');
}

interface SarifResult {
  readonly finding: Finding;
  readonly level: string | undefined;
  readonly state: object;
}

/** The results: the findings, then, marked as such, what the base branch has as well and what is waived. */
function resultsOf({ findings, known, waived }: SarifFindings): SarifResult[] {
  const hasStates = known !== undefined || waived !== undefined;
  // Nobody needs to act on what was there before or is waived.
  const lowLevel = { level: 'note' };
  return [
    ...findings.map((finding) => ({
      finding,
      level: LEVELS[finding.severity],
      state: hasStates ? { baselineState: 'new' } : {},
    })),
    ...(known ?? []).map((finding) => ({ finding, ...lowLevel, state: { baselineState: 'unchanged' } })),
    ...(waived ?? []).map(({ finding, until, reason }) => ({
      finding,
      ...lowLevel,
      state: waivedState(reason, until),
    })),
  ];
}

/** What SARIF says of a waived finding: suppressed, by a decision outside of the sources. */
function waivedState(reason: string, until: string): object {
  const justification = `waived until ${until}: ${reason}`;
  return { baselineState: 'new', suppressions: [{ kind: 'external', status: 'accepted', justification }] };
}

/** The program's name and version; sources that were not built have no version of their own. */
function program(): object {
  const version = typeof PORTOLAN_VERSION === 'string' ? PORTOLAN_VERSION : '0.0.0';
  return { name: 'portolan', version, semanticVersion: version };
}

/** A rule with all that code scanning demands: a short and a full description, and help. */
function descriptorOf(id: string): object {
  const rule = ruleOf(id);
  const summary = rule?.summary ?? `Portolan reports ${id}`;
  const page = rulePage(id);
  const text = [`${summary}.`, ...(rule?.fix === undefined ? [] : [`Fix: ${rule.fix}`])];
  const more = page === undefined ? [] : [`See ${page}`];
  return {
    id,
    shortDescription: { text: summary },
    fullDescription: { text: `${summary}.` },
    help: { text: [...text, ...more].join('\n') },
    helpUri: page ?? HOME,
    ...(rule ? { defaultConfiguration: { level: LEVELS[rule.severity] } } : {}),
  };
}

/** Where a finding is shown. Code scanning takes none without a file: what has none is shown at the policy. */
function placeOf({ location: { file, line, column } }: Finding): object {
  if (file === '') return { artifactLocation: { uri: uriOf(POLICY_PATH) }, region: { startLine: 1 } };
  return { artifactLocation: { uri: uriOf(file) }, region: { startLine: line, startColumn: column } };
}

/** `primaryLocationLineHash` is the only one that GitHub reads. */
function fingerprintsOf(print: string): object {
  return { 'portolanFinding/v1': print, primaryLocationLineHash: print };
}

/** The suggested corrections as one SARIF fix, with each file once. */
function fixesOf(suggestions: readonly Suggestion[]): object {
  if (suggestions.length === 0) return {};
  const files = new Map<string, Map<number, Suggestion>>();
  for (const suggestion of suggestions) {
    const lines = files.get(suggestion.file) ?? new Map<number, Suggestion>();
    // Of two proposals for one line only one can be taken.
    if (!lines.has(suggestion.line)) lines.set(suggestion.line, suggestion);
    files.set(suggestion.file, lines);
  }
  const artifactChanges = [...files].map(([file, lines]) => ({
    artifactLocation: { uri: uriOf(file) },
    replacements: [...lines.values()].map(({ line, before, after }) => ({
      deletedRegion: { startLine: line, startColumn: 1, endLine: line, endColumn: before.length + 1 },
      insertedContent: { text: after },
    })),
  }));
  return { fixes: [{ description: { text: 'write this line' }, artifactChanges }] };
}

/** A relative path as a URI reference. */
function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
