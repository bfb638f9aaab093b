import { listPackages } from '../../../catalog/olm/listing.ts';
import type { Command } from '../command.ts';
import { LIST_OPTIONS, list } from './list.ts';

export const command: Command = {
  words: 'list packages',
  operands: 'DIR|REFERENCE',
  options: LIST_OPTIONS,
  examples: ['portolan list packages catalogs/v4.20'],
  run: (invocation, terminal) =>
    list(invocation, terminal, {
      rows: listPackages,
      titles: ['PACKAGE', 'DISPLAY NAME', 'DEFAULT CHANNEL', 'HEAD', 'CHANNELS', 'BUNDLES', 'DEPRECATED'],
      cells: (row) => [
        row.package,
        row.displayName,
        row.defaultChannel,
        row.head,
        String(row.channels),
        String(row.bundles),
        row.deprecated ?? '',
      ],
    }),
};
