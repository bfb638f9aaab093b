import type { Catalog } from '../../catalog/fbc/model.ts';
import { nearest } from '../../catalog/spelling.ts';
import { PipelineError } from '../error.ts';

/** What each command says of a package that none of its catalogs has. */
export function noPackage(name: string, catalogs: readonly Pick<Catalog, 'packages'>[]): PipelineError {
  const near = nearest(
    name,
    catalogs.flatMap(({ packages }) => [...packages.keys()]),
  );
  return new PipelineError('usage', `no catalog has the package ${JSON.stringify(name)}`, {
    hint:
      near === undefined ? 'run portolan list packages DIR to list the packages' : `did you mean ${near}?`,
  });
}
