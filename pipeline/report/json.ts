import { type CheckReport, headlineOf } from '../check/report.ts';

/** The report as JSON, for machines. */
export function jsonReport(report: CheckReport): string {
  return `${JSON.stringify({ ...report, headline: headlineOf(report) }, null, 2)}\n`;
}
