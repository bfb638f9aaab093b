import { listChannels } from '../../../catalog/olm/listing.ts';
import type { Command } from '../command.ts';
import { LIST_OPTIONS, list } from './list.ts';

export const command: Command = {
  words: 'list channels',
  operands: 'DIR|REFERENCE',
  options: LIST_OPTIONS,
  examples: ['portolan list channels catalogs/v4.20 --package etcd'],
  run: (invocation, terminal) =>
    list(invocation, terminal, {
      rows: listChannels,
      titles: ['PACKAGE', 'CHANNEL', 'HEAD', 'VERSION', 'ENTRIES', 'DEFAULT', 'DEPRECATED'],
      cells: (row) => [
        row.package,
        row.channel,
        row.head,
        row.version,
        String(row.entries),
        row.isDefault ? 'default' : '',
        row.deprecated ?? '',
      ],
    }),
};
