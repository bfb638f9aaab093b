import { basename, dirname, resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { recordsIn } from '../../publish/delivery/local.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import { ringsListText } from '../../publish/rings/look.ts';
import { parseRings } from '../../publish/rings/read.ts';
import { type KnownRings, ringsIn } from '../../publish/rings/store.ts';
import { ringsPage } from '../../report/page/rings-page.ts';
import type { Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Command } from '../command.ts';
import { existingFolder, statusFrom } from './status.ts';

export const command: Command = {
  words: 'ring list',
  operands: '[DIR]',
  options: {
    from: { value: '-', description: 'read the response of the Status function from standard input' },
    page: { value: 'FILE', description: 'also write an HTML page' },
    json: { description: 'print the result as JSON' },
  },
  details: [
    'DIR is the directory of portolan publish --local (default: .portolan). The result is as of the last look at the rings:',
    'the last run of portolan publish --local, or of the reconciler.',
  ].join('\n'),
  examples: [
    'portolan ring list .portolan --page rings.html',
    'aws lambda invoke --function-name portolan-status /dev/stdout | portolan ring list --from -',
  ],
  run: async (invocation, terminal) => {
    const { rings: states, errors } = await read(invocation.operands[0], invocation.text('from'), terminal);
    const page = invocation.text('page');
    if (page !== undefined) {
      const path = resolve(terminal.directory, page);
      writeFiles(dirname(path), new Map([[basename(path), ringsPage(states)]]));
    }
    const isJson = invocation.flag('json');
    if (isJson) await terminal.out(`${JSON.stringify(states, null, 2)}\n`);
    else if (states.length > 0 || errors.length === 0) await terminal.out(ringsListText(states));
    // The rings that can be read are printed; then the first error decides how the command ends, as it does alone.
    for (const error of errors.slice(1)) terminal.err(`portolan: ${plainText(error.message)}\n`);
    if (errors[0]) throw errors[0];
    return 0;
  },
};

/** The rings in a directory of records, or in a status on standard input. */
async function read(
  directory: string | undefined,
  from: string | undefined,
  terminal: Terminal,
): Promise<KnownRings> {
  if (from === undefined) return ringsIn(directoryRecords(recordsIn(existingFolder(directory, terminal))));
  const { rings = [], unreadRings = [] } = await statusFrom(terminal);
  return {
    rings: rings.map((one) => parseRings(JSON.stringify(one), 'standard input')),
    errors: unreadRings.map((why) => new PipelineError('corrupt', String(why))),
  };
}
