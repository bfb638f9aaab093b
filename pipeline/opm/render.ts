import { writeBlobs } from '../render/write.ts';
import { readAll } from './catalog.ts';
import type { OpmCommand } from './command.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

export const command: OpmCommand = {
  words: 'render',
  summary: 'Print catalogs as one stream of file-based catalog objects.',
  operands: 'DIRECTORY|IMAGE…',
  least: 1,
  most: Number.POSITIVE_INFINITY,
  flags: { output: { ...OUTPUT_FLAG, description: 'format of the stream (json|yaml)' } },
  run: async (call, world) => {
    const format = outputOf(call, ['json', 'yaml']);
    const blobs = await readAll(call, world, { references: call.operands });
    if (!blobs) return 1;
    await writeBlobs(blobs, format, world.terminal.out);
    return 0;
  },
};
