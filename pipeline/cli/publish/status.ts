import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { parsedJson } from '../../json.ts';
import { recordsIn } from '../../publish/delivery/local.ts';
import { type DeliveryStatus, isSettled, statusOf, statusText } from '../../publish/delivery/status.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import type { Command } from '../command.ts';

export const command: Command = {
  words: 'status',
  operands: '[DIR]',
  options: {
    from: {
      value: '-',
      description: 'read the response of the Status function from standard input',
    },
    json: { description: 'print the result as JSON' },
  },
  details: [
    'DIR is the directory of portolan publish --local (default: .portolan). For the functions on AWS, pipe the response of',
    'the Status function to --from - (see the examples). The exit code is 1 if a catalog is pending, refused or failed.',
  ].join('\n'),
  examples: [
    'portolan status .portolan',
    'aws lambda invoke --function-name portolan-status /dev/stdout | portolan status --from -',
  ],
  run: async (invocation, terminal) => {
    const status = await read(invocation.operands[0], invocation.text('from'), terminal);
    await terminal.out(invocation.flag('json') ? `${JSON.stringify(status, null, 2)}\n` : statusText(status));
    return printed(status);
  },
};

function printed(status: DeliveryStatus): ExitCode {
  return isSettled(status) ? 0 : 1;
}

async function read(
  directory: string | undefined,
  from: string | undefined,
  terminal: Terminal,
): Promise<DeliveryStatus> {
  if (from === undefined) {
    const path = resolve(terminal.directory, directory ?? '.portolan');
    if (existsSync(path)) return statusOf(directoryRecords(recordsIn(path)));
    throw new PipelineError('not-found', `${path}: no such directory`, {
      hint: 'use the directory of portolan publish --local DIR',
    });
  }
  return statusFrom(terminal);
}

/**
 * The response of the Status function on standard input.
 *
 * @throws PipelineError `usage` for anything else
 */
export async function statusFrom(terminal: Terminal): Promise<DeliveryStatus> {
  // The aws command writes a summary of its own behind the answer.
  const text = (await terminal.input()).split('\n')[0] ?? '';
  const status = Object(parsedJson(text.replace(/\}\{[^{}]*\}$/, '}'))) as DeliveryStatus;
  const { published, last, rings = [], unreadRings = [] } = status;
  if ([published, last, rings, unreadRings].every(Array.isArray)) return status;
  throw new PipelineError('usage', 'standard input is not a status', {
    hint: 'pipe the response of the Status function',
  });
}
