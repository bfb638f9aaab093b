import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { recordsIn } from '../delivery/local.ts';
import { type DeliveryStatus, isSettled, statusOf, statusText } from '../delivery/status.ts';
import { PipelineError } from '../error.ts';
import { directoryRecords } from '../records/directory.ts';
import type { Command } from './command.ts';
import type { ExitCode, Terminal } from './terminal.ts';

export const command: Command = {
  words: 'status',
  summary: 'Say what is published where, from which commit, and what waits or failed.',
  operands: '[DIR]',
  options: {
    from: {
      value: '-',
      description: 'read what the status function of a cloud answered from standard input',
    },
    json: { description: 'print JSON' },
  },
  details: [
    'DIR is that of portolan publish --local (default: .portolan). The status of the functions on AWS is what the function Status answers:',
    'aws lambda invoke --function-name NAME /dev/stdout. Exits with 1 while a catalog waits, was refused or failed.',
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
      hint: 'name the one of portolan publish --local DIR',
    });
  }
  // The aws command writes a summary of its own behind the answer.
  const text = (await terminal.input()).split('\n')[0] ?? '';
  try {
    const status = JSON.parse(text.replace(/\}\{[^{}]*\}$/, '}')) as DeliveryStatus;
    if (Array.isArray(status.published) && Array.isArray(status.last)) return status;
  } catch {
    // Said below.
  }
  throw new PipelineError('usage', 'standard input is no status', {
    hint: 'give what the function Status answers',
  });
}
