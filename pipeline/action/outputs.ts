/** What a step says to the runner: its log, annotations, the job summary, outputs. */
import { resolve } from 'node:path';
import { type AnnotationProperties, error, notice, setOutput, summary, warning } from '@actions/core';
import type { Finding, Severity } from '../../catalog/finding.ts';
import { type CheckReport, headlineOf, stateOf } from '../check/report.ts';
import { worstOf } from '../forge/status.ts';
import { jsonReport } from '../report/json.ts';
import { changesMarkdown, markdownReport } from '../report/markdown.ts';
import { packedResults } from '../report/packed-report.ts';
import { sarifReport } from '../report/sarif.ts';
import { textReport } from '../report/text-report.ts';
import { plainText } from '../text.ts';
import { writeFiles } from '../write.ts';
import type { RunInputs } from './inputs.ts';
import { logText } from './log.ts';

/** What GitHub shows of a step: ten annotations of each kind. It drops the others. */
const SHOWN = 10;
/** Names of the files that the outputs `report`, `sarif` and `graph-diff` lead to. */
const REPORT = 'portolan-report.json';
const SARIF = 'portolan.sarif';
const CHANGES = 'portolan-changes.md';

type OutputStep = Pick<RunInputs, 'temporary' | 'forge' | 'attempt'>;

/**
 * Sets what needs no permission: the log, the summary, outputs and files. Most outputs are those of the worst report; without
 * reports nothing is set.
 */
export async function setReportOutputs(
  reports: readonly CheckReport[],
  { temporary, forge, attempt }: OutputStep,
): Promise<void> {
  const report = worstOf(reports);
  if (!report) return;
  for (const one of reports) logText(textReport(one));
  for (const one of reports) summary.addRaw(markdownReport(one, { server: forge?.server }));
  await summary.write({ overwrite: true });
  setOutput('results', JSON.stringify(reports.map(resultOf)));
  writeFiles(
    temporary,
    new Map([
      [REPORT, jsonReport(report)],
      [SARIF, sarifReport(report)],
      [CHANGES, changesMarkdown(report.diffs)],
    ]),
  );
  const count = (severity: Severity): number =>
    report.findings.filter((one) => one.severity === severity).length;
  setOutput('verdict', report.verdict);
  setOutput('authority', report.authority.decision);
  setOutput('state', stateOf(report));
  setOutput('headline', plainText(headlineOf(report)));
  setOutput('errors', count('error'));
  setOutput('warnings', count('warning'));
  setOutput('needs', JSON.stringify(report.authority.missing ?? []));
  setOutput('classes', JSON.stringify([...new Set(report.packages.flatMap(({ classes }) => classes))]));
  setOutput('packages', JSON.stringify(report.packages.map(({ name }) => name)));
  setOutput('catalogs', JSON.stringify([...new Set(report.packages.flatMap(({ catalogs }) => catalogs))]));
  setOutput('report', resolve(temporary, REPORT));
  setOutput('sarif', resolve(temporary, SARIF));
  setOutput('graph-diff', resolve(temporary, CHANGES));
  setOutput('result', packedResults({ attempt, reports }));
}

/** The outputs of one of several pull requests. */
function resultOf(report: CheckReport) {
  const { request, head, verdict, authority } = report;
  const at = { number: request?.number, branch: request?.branch, head };
  return {
    ...at,
    verdict,
    authority: authority.decision,
    state: stateOf(report),
    headline: plainText(headlineOf(report)),
  };
}

const ANNOTATE: Readonly<Record<Severity, (message: string, where: AnnotationProperties) => void>> = {
  error,
  warning,
  info: notice,
};

/** Annotations of the step, for where no check run can be made. The most severe come first; see {@link SHOWN}. */
export function annotateFindings(findings: readonly Finding[]): void {
  for (const severity of ['error', 'warning', 'info'] as const) {
    for (const finding of findings.filter((one) => one.severity === severity).slice(0, SHOWN)) {
      const { location, rule, message, hint } = finding;
      const text = hint === undefined ? plainText(message) : `${plainText(message)}\nfix: ${plainText(hint)}`;
      const { file, line, column } = location;
      ANNOTATE[severity](text, { title: rule, file, startLine: line, startColumn: column });
    }
  }
}
