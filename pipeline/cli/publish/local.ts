/** `portolan publish --local`: the functions' own steps, with no cloud. */
import { resolve } from 'node:path';
import { deliverLocally } from '../../publish/delivery/local.ts';
import { isSettled, statusText } from '../../publish/delivery/status.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import type { Invocation } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';

/** Publishes every catalog of a clone to a local directory. @throws PipelineError as the delivery */
export async function publishLocally(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { directory, now } = terminal;
  const client = registryClientFor(invocation, terminal, { named: [invocation.text('base-image')] });
  try {
    const delivery = await deliverLocally(
      {
        repository: resolve(directory, invocation.text('repo') ?? '.'),
        settings: searchPath(terminal),
        revision: invocation.text('commit') ?? 'HEAD',
        directory: resolve(directory, invocation.needed('local')),
        now,
        log: (line) => terminal.err(`${plainText(line)}\n`),
      },
      client,
    );
    const { failures, ...status } = delivery;
    const isJson = invocation.text('format') === 'json';
    await terminal.out(isJson ? `${JSON.stringify(status, null, 2)}\n` : statusText(status));
    for (const error of failures) {
      terminal.err(`portolan: ${plainText(error instanceof Error ? error.message : String(error))}\n`);
    }
    if (failures.length > 0) return 2;
    return isSettled(status) ? 0 : 1;
  } finally {
    client.close();
  }
}
