/** The schema of a check's report as a function, which the build compiles (scripts/completed-modules.mjs). */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import SCHEMA from '../../docs/check-report.schema.json' with { type: 'json' };
import type { CheckReport } from '../check/report.ts';

export const OPTIONS: Options = { validateSchema: false, meta: false, strict: false };

export { SCHEMA };

let compiled: ValidateFunction<CheckReport> | undefined;

/** Whether a value is a report of a check. */
export function validator(): ValidateFunction<CheckReport> {
  compiled ??= new Ajv(OPTIONS).compile<CheckReport>(SCHEMA);
  return compiled;
}
