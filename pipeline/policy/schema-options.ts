/** How the schemas of the policy and of advisories are compiled. */
import type { Options } from 'ajv';

/** All errors of a value, with what is wrong in it. The tests check the schemas themselves. */
export const SCHEMA_OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
};
