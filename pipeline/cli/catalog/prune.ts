import { resolve } from 'node:path';
import { keepPackages } from '../../../catalog/edit/package.ts';
import type { Finding } from '../../../catalog/finding.ts';
import type { Command } from '../command.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, editWithEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'prune',
  operands: 'DIR',
  options: {
    keep: { value: 'PACKAGE', description: 'package to keep', multiple: true, required: true },
    ...ACCEPT_OPTION,
  },
  details:
    'Objects that do not belong to a package are kept. The text of the remaining objects stays unchanged.\n' +
    `${EFFECT_DETAILS}\n` +
    'Losing the other packages does not count as an error.',
  examples: ['portolan prune catalogs/v4.20 --keep foo --keep bar'],
  run: async (invocation, terminal) => {
    const { operands, list } = invocation;
    const keep = new Set(list('keep'));
    const isAsked = ({ package: name = '' }: Finding): boolean => !keep.has(name);
    const root = resolve(terminal.directory, operands[0] ?? '.');
    return editWithEffect(root, (files) => keepPackages(files, keep), { invocation, terminal, isAsked });
  },
};
