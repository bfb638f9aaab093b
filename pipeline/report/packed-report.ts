/**
 * A report on its way from the job that may read to the job that may write: as text, within
 * the room that a job's output has, and checked by its schema again where it arrives.
 */
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { parseJson } from '../../catalog/json.ts';
import type { CheckReport, PlacedDiff } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import { validator } from './report-shape.ts';

/**
 * Most characters of the text. Outputs of a job may have a million, but the next job's step gets it as a variable
 * of its environment, and Linux starts no program with one of 128 KiB.
 */
const MOST_CHARACTERS = 120_000;

/** Most bytes that a report may unfold to. */
const MOST_BYTES = 64 * 1024 * 1024;

type Shortening = (report: CheckReport) => CheckReport;

type Part = 'changes' | 'findings';

/** What is left out of a report that is too large, one after the other; a text says all that its part has lost. */
const SHORTENINGS: readonly (readonly [part: Part, what: string, shorten: Shortening])[] = [
  ['changes', 'diagrams', (report) => ({ ...report, diffs: report.diffs.map(withoutGraph) })],
  [
    'changes',
    'diagrams and what upgrades require',
    (report) => ({ ...report, diffs: report.diffs.map(withoutReviews) }),
  ],
  [
    'changes',
    'what changes in catalogs, and findings that the base branch has as well',
    (report) => ({ ...report, diffs: [], known: [] }),
  ],
  ...[500, 50, 5].map(
    (count) =>
      [
        'findings',
        `all but the first ${count} findings`,
        (report: CheckReport) => ({ ...report, findings: report.findings.slice(0, count) }),
      ] as const,
  ),
];

function withoutGraph(diff: PlacedDiff): PlacedDiff {
  return { ...diff, graph: { ...diff.graph, lanes: [] } };
}

function withoutReviews({ reviews: _, ...diff }: PlacedDiff): PlacedDiff {
  return diff;
}

/** A report as one line of text. What does not fit is left out, and the report says so. */
export function packedReport(report: CheckReport, most: number = MOST_CHARACTERS): string {
  let text = packedText(report);
  let current = report;
  const omitted = new Map<Part, string>();
  for (const [part, what, shorten] of SHORTENINGS) {
    if (text.length <= most) return text;
    const shorter = shorten(current);
    if (isDeepStrictEqual(shorter, current)) continue;
    current = shorter;
    omitted.set(part, what);
    const why = 'the report is too large for a job to hand on';
    const notes = [...omitted.values()].map((one) => ({ what: one, why }));
    text = packedText({ ...current, unchecked: [...report.unchecked, ...notes] });
  }
  return text;
}

/** A report as base64 of its compressed JSON: an output of a job is one line of text. */
function packedText(report: CheckReport): string {
  const bytes = Buffer.from(JSON.stringify(report));
  const parameters = {
    // The best quality takes many times as long for little.
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params: parameters }).toString('base64');
}

/** Reads a packed report. @throws PipelineError `usage` for anything but a report */
export function unpackedReport(text: string): CheckReport {
  return reportIn(unfoldedJson(text));
}

/**
 * The JSON in a packed text. A small text cannot fill the memory: what unfolds to more than the limit is
 * refused.
 */
function unfoldedJson(text: string): unknown {
  try {
    const bytes = brotliDecompressSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES });
    return parseJson(bytes);
  } catch (cause) {
    throw new PipelineError('usage', 'the input result holds no report of a check', { cause });
  }
}

/** A value as a report. @throws PipelineError `usage` that names what is wrong first */
function reportIn(value: unknown): CheckReport {
  const validate = validator();
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  const where = error?.instancePath || 'the report';
  throw new PipelineError('usage', `the input result is not a check report: ${where} ${error?.message}`);
}

/** The reports of a job, and which try of the workflow's run made them. */
interface JobResults {
  readonly attempt: string;
  readonly reports: readonly CheckReport[];
}

/** Reports for another job, as one line of text. */
export function packedResults({ attempt, reports }: JobResults): string {
  // Room for the attempt's number, and for a colon before each report.
  const most = Math.floor((MOST_CHARACTERS - 20) / Math.max(1, reports.length)) - 1;
  return [attempt, ...reports.map((report) => packedReport(report, most))].join(':');
}

/** Reads the packed results of a job. @throws PipelineError `usage` for anything but reports */
export function unpackedResults(text: string): JobResults {
  const [attempt = '', ...reports] = text.split(':');
  if (!/^[0-9]{1,6}$/.test(attempt))
    throw new PipelineError('usage', 'the input result holds no report of a check');
  return { attempt, reports: reports.map(unpackedReport) };
}
