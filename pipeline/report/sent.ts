/**
 * A report on its way from the job that may read to the job that may write: as text, within
 * the room that a job's output has, and judged by its schema again where it arrives.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import schema from '../check-report.schema.json' with { type: 'json' };
import { PipelineError } from '../error.ts';
import type { CheckReport } from './report.ts';

/** Most characters of an output; GitHub takes a megabyte for all outputs of a job. */
const MOST_CHARACTERS = 700_000;

/** Most bytes that a report may unfold to. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Findings that are sent when all of them are too many. */
const MOST_FINDINGS = 500;

/** A report as one line of text; what is too large for it loses its diagrams, then its last findings. */
export function packedReport(report: CheckReport): string {
  const whole = packed(report);
  if (whole.length <= MOST_CHARACTERS) return whole;
  const note = {
    what: 'diagrams and the last findings',
    why: 'the report is too large for a job to hand on',
  };
  const rest = { ...report, diffs: [], known: [], unchecked: [...report.unchecked, note] };
  return packed({ ...rest, findings: report.findings.slice(0, MOST_FINDINGS) });
}

function packed(report: CheckReport): string {
  return gzipSync(JSON.stringify(report)).toString('base64');
}

/** @throws PipelineError `usage` for anything but a report */
export function unpackedReport(text: string): CheckReport {
  return reportIn(unfolded(text));
}

function unfolded(text: string): unknown {
  try {
    const bytes = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES });
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new PipelineError('usage', 'the input result holds no report of a check', { cause });
  }
}

/** A value as a report. @throws PipelineError `usage` that names what is wrong first */
export function reportIn(value: unknown): CheckReport {
  const validate = new Ajv({ validateSchema: false, meta: false, strict: false }).compile<CheckReport>(
    schema,
  );
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  const where = error?.instancePath || 'the report';
  throw new PipelineError('usage', `the input result is no report of a check: ${where} ${error?.message}`);
}
