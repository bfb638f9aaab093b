/**
 * The policy's schema as a function. The build compiles it (scripts/compiled-schemas.mjs): at run time, that would
 * take longer than most checks.
 */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import SCHEMA from '../policy.schema.json' with { type: 'json' };
import type { PolicyFile } from './policy-file.ts';

/** The tests check the schema itself. */
export const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
};

export { SCHEMA };

let compiled: ValidateFunction<PolicyFile> | undefined;

/** Whether a value is a policy, as far as its schema can say. */
export function validator(): ValidateFunction<PolicyFile> {
  compiled ??= new Ajv(OPTIONS).compile<PolicyFile>(SCHEMA);
  return compiled;
}
