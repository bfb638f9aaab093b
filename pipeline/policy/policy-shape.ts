/**
 * The policy's schema as a function. The build compiles it (scripts/completed-modules.mjs): at run time, that would
 * take longer than most checks.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import SCHEMA from '../policy.schema.json' with { type: 'json' };
import type { PolicyFile } from './policy-file.ts';
import { SCHEMA_OPTIONS } from './schema-options.ts';

export { SCHEMA, SCHEMA_OPTIONS as OPTIONS };

let compiled: ValidateFunction<PolicyFile> | undefined;

/** Whether a value is a policy, as far as its schema can say. */
export function validator(): ValidateFunction<PolicyFile> {
  compiled ??= new Ajv(SCHEMA_OPTIONS).compile<PolicyFile>(SCHEMA);
  return compiled;
}
