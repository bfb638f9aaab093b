import { resolve } from 'node:path';
import { keepPackages } from '../../../catalog/edit/package.ts';
import type { Command } from '../command.ts';
import { editWithEffect } from './edit-effect.ts';

export const command: Command = {
  words: 'prune',
  operands: 'DIR',
  options: {
    keep: { value: 'PACKAGE', description: 'package to keep', multiple: true, required: true },
  },
  details:
    'Objects that do not belong to a package are kept. The text of the remaining objects stays unchanged. Portolan prints what clusters lose.',
  examples: ['portolan prune catalogs/v4.20 --keep foo --keep bar'],
  run: async ({ operands, list }, terminal) => {
    const keep = new Set(list('keep'));
    const root = resolve(terminal.directory, operands[0] ?? '.');
    return editWithEffect(root, (files) => keepPackages(files, keep), { terminal, removes: true });
  },
};
