/**
 * Findings as SARIF 2.1.0, which GitHub's code scanning and editors read.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
import type { Severity } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { CheckReport } from '../check/report.ts';
import type { Suggestion } from '../check/suggestions.ts';

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

export function sarifReport(report: Pick<CheckReport, 'findings' | 'suggestions'>): string {
  const used = new Set(report.findings.map(({ rule }) => rule));
  const known = new Map(RULES.map((rule) => [rule.id, rule]));
  const rules = [...used].sort().map((id) => ({
    id,
    ...(known.has(id) ? { shortDescription: { text: known.get(id)?.summary } } : {}),
  }));
  const run = {
    tool: { driver: { name: 'portolan', informationUri: 'https://github.com/portolan/portolan', rules } },
    columnKind: 'utf16CodeUnits',
    results: report.findings.map(({ rule, severity, message, location, hint, catalogs, package: of }) => ({
      ruleId: rule,
      ruleIndex: rules.findIndex(({ id }) => id === rule),
      level: LEVELS[severity],
      message: { text: hint === undefined ? message : `${message}\nFix: ${hint}` },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: uriOf(location.file) },
            region: { startLine: location.line, startColumn: location.column },
          },
        },
      ],
      ...fixesOf((report.suggestions ?? []).filter((one) => one.rule === rule && one.message === message)),
      properties: { ...(of === undefined ? {} : { package: of }), ...(catalogs ? { catalogs } : {}) },
    })),
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** Lines that may stand in place of others, all of them together. */
function fixesOf(suggestions: readonly Suggestion[]): object {
  if (suggestions.length === 0) return {};
  const artifactChanges = suggestions.map(({ file, line, before, after }) => ({
    artifactLocation: { uri: uriOf(file) },
    replacements: [
      {
        deletedRegion: { startLine: line, startColumn: 1, endLine: line, endColumn: before.length + 1 },
        insertedContent: { text: after },
      },
    ],
  }));
  return { fixes: [{ description: { text: 'write this line' }, artifactChanges }] };
}

/** A relative path as a URI reference. */
function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
