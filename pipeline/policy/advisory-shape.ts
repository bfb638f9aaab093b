/** The schema of advisories as a function, which the build compiles (scripts/completed-modules.mjs). */
import { Ajv, type ValidateFunction } from 'ajv';
import type { Advisory } from '../../catalog/olm/advisory/advisory.ts';
import SCHEMA from '../advisory.schema.json' with { type: 'json' };
import { SCHEMA_OPTIONS } from './schema-options.ts';

/** An advisory as people write it: some keys may be left out. */
export type AdvisoryFile = Omit<Advisory, 'id' | 'allowDowngrade' | 'withoutUpgradePath'> &
  Partial<Pick<Advisory, 'allowDowngrade' | 'withoutUpgradePath'>> & {
    readonly catalogs?: readonly string[];
  };

export { SCHEMA, SCHEMA_OPTIONS as OPTIONS };

let compiled: ValidateFunction<AdvisoryFile> | undefined;

/** Whether a value is an advisory, as far as its schema can say. */
export function validator(): ValidateFunction<AdvisoryFile> {
  compiled ??= new Ajv(SCHEMA_OPTIONS).compile<AdvisoryFile>(SCHEMA);
  return compiled;
}
