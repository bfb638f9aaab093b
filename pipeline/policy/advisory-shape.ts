/** The schema of advisories as a function, which the build compiles (scripts/compiled-schemas.mjs). */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { Advisory } from '../../catalog/olm/advisory/advisory.ts';
import SCHEMA from '../advisory.schema.json' with { type: 'json' };

/** An advisory as people write it: some keys may be left out. */
export type AdvisoryFile = Omit<Advisory, 'id' | 'allowDowngrade' | 'withoutUpgradePath'> &
  Partial<Pick<Advisory, 'allowDowngrade' | 'withoutUpgradePath'>> & {
    readonly catalogs?: readonly string[];
  };

/** The tests check the schema itself. */
export const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
};

export { SCHEMA };

let compiled: ValidateFunction<AdvisoryFile> | undefined;

/** Whether a value is an advisory, as far as its schema can say. */
export function validator(): ValidateFunction<AdvisoryFile> {
  compiled ??= new Ajv(OPTIONS).compile<AdvisoryFile>(SCHEMA);
  return compiled;
}
