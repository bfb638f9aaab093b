import { resolve } from 'node:path';
import { keepPackages } from '../../catalog/edit/package.ts';
import { editCatalog } from '../edit/catalog.ts';
import { sayEdited } from '../edit/say.ts';
import { type Command, usageError } from './command.ts';

export const command: Command = {
  words: 'prune',
  summary: 'Keep only some packages of a catalog, each as it was written.',
  operands: 'DIR',
  options: {
    keep: { value: 'PACKAGE', description: 'a package to keep', multiple: true },
  },
  details: 'Objects that belong to no package stay.',
  examples: ['portolan prune catalogs/v4.20 --keep foo --keep bar'],
  run: async ({ operands, list }, terminal) => {
    const keep = new Set(list('keep'));
    if (keep.size === 0) throw usageError(command, '--keep is needed');
    const root = resolve(terminal.directory, operands[0] ?? '.');
    return sayEdited(await editCatalog(root, (files) => keepPackages(files, keep)), terminal);
  },
};
