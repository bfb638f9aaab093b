import type { Catalog } from '../../../catalog/fbc/model.ts';
import { bundleTable, channelTable, packageTable } from '../../../catalog/opm/list-tables.ts';
import { PipelineError } from '../../error.ts';
import { readAll, validCatalog } from './catalog.ts';
import type { OpmCommand } from './command.ts';

/** The command that lists one kind of things in a catalog. @param most operands that it takes */
function listCommand(
  what: string,
  most: 1 | 2,
  table: (catalog: Catalog, only?: string) => string,
): OpmCommand {
  return {
    words: `alpha list ${what}`,
    summary: `List the ${what} of a catalog.`,
    operands: most === 1 ? 'CATALOG' : 'CATALOG [PACKAGE]',
    least: 1,
    most,
    flags: {},
    run: async (call, world) => {
      const [reference = '', only] = call.operands;
      const blobs = await readAll(call, world, { references: [reference], only: 'catalogs' });
      const catalog = blobs && validCatalog(blobs, world);
      if (!catalog) return 1;
      const named = only === '' ? undefined : only;
      if (named !== undefined && !catalog.packages.has(named)) {
        throw new PipelineError('not-found', `no package ${JSON.stringify(named)} in ${reference}`);
      }
      await world.terminal.out(table(catalog, named));
      return 0;
    },
  };
}

export const packages: OpmCommand = listCommand('packages', 1, packageTable);
export const channels: OpmCommand = listCommand('channels', 2, channelTable);
export const bundles: OpmCommand = listCommand('bundles', 2, bundleTable);
