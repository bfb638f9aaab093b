import { resolve } from 'node:path';
import { writePackages } from '../../catalogs/render/files.ts';
import { PipelineError } from '../../error.ts';
import { MIGRATE_FLAG, migratesTo, readAll } from './catalog.ts';
import { type OpmCommand, OUTPUT_FLAG, outputOf } from './command.ts';

export const command: OpmCommand = {
  words: 'migrate',
  summary: 'Rewrite a catalog with a directory for each package.',
  operands: 'CATALOG OUTPUT',
  least: 2,
  most: 2,
  flags: {
    output: { ...OUTPUT_FLAG, description: 'format of the files (json|yaml)' },
    'migrate-level': MIGRATE_FLAG,
  },
  run: async (call, world) => {
    const [reference = '', output = ''] = call.operands;
    if (output === '') throw new PipelineError('usage', 'the name of the output directory is empty');
    const format = outputOf(call, ['json', 'yaml']);
    const migrates = migratesTo(call.text('migrate-level'));
    const written = await writePackages(resolve(world.terminal.directory, output), format, () =>
      readAll(call, world, { references: [reference], only: 'catalogs', migrates }),
    );
    if (written === undefined) return 1;
    world.terminal.err(`${written} files written to ${output}\n`);
    return 0;
  },
};
