import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { parsedJson } from '../../json.ts';
import { recordsIn } from '../../publish/delivery/local.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import { parseRings, type RingState, ringsIn } from '../../publish/rings/state.ts';
import { ringsListText } from '../../publish/rings/text.ts';
import { ringsPage } from '../../report/page/rings-page.ts';
import type { Terminal } from '../../terminal.ts';
import { writeFiles } from '../../write.ts';
import type { Command } from '../command.ts';

export const command: Command = {
  words: 'rings',
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
    'portolan rings .portolan --page rings.html',
    'aws lambda invoke --function-name portolan-status /dev/stdout | portolan rings --from -',
  ],
  run: async (invocation, terminal) => {
    const states = await read(invocation.operands[0], invocation.text('from'), terminal);
    const page = invocation.text('page');
    if (page !== undefined) {
      const path = resolve(terminal.directory, page);
      writeFiles(dirname(path), new Map([[basename(path), ringsPage(states)]]));
    }
    const isJson = invocation.flag('json');
    await terminal.out(isJson ? `${JSON.stringify(states, null, 2)}\n` : ringsListText(states));
    return 0;
  },
};

async function read(
  directory: string | undefined,
  from: string | undefined,
  terminal: Terminal,
): Promise<readonly RingState[]> {
  if (from === undefined) {
    const path = resolve(terminal.directory, directory ?? '.portolan');
    if (existsSync(path)) return ringsIn(directoryRecords(recordsIn(path)));
    throw new PipelineError('not-found', `${path}: no such directory`, {
      hint: 'use the directory of portolan publish --local DIR',
    });
  }
  // The aws command writes a summary of its own behind the answer.
  const text = ((await terminal.input()).split('\n')[0] ?? '').replace(/\}\{[^{}]*\}$/, '}');
  const { rings = [] } = Object(parsedJson(text)) as { readonly rings?: readonly unknown[] };
  return rings.map((one) => parseRings(JSON.stringify(one), 'standard input'));
}
