/**
 * Migrations that opm can apply to what it renders.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/migrations/migrations.go
 */
import { PipelineError } from '../../error.ts';

export const MIGRATE_FLAG = {
  value: 'LEVEL',
  description: 'last migration to apply: none, bundle-object-to-csv-metadata or all',
} as const;

/**
 * Whether a level replaces manifests by `olm.csv.metadata`; the empty text is not a level.
 *
 * @throws PipelineError `usage` for a level that there is not
 */
export function migratesTo(level: string): boolean {
  switch (level) {
    case '':
    case 'none':
      return false;
    case 'bundle-object-to-csv-metadata':
    case 'all':
      return true;
    default:
      throw new PipelineError('usage', `unknown migration level ${JSON.stringify(level)}`, {
        hint: 'levels: none, bundle-object-to-csv-metadata, all',
      });
  }
}
