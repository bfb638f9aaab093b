/** The option `--fence`: where a command keeps the newest commit that was published. */
import { resolve } from 'node:path';
import { authorization } from '../../git/process.ts';
import type { Fence } from '../../ports.ts';
import { gitFence } from '../../publish/fence-git.ts';
import { recordFence } from '../../publish/fence-records.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';

export type OpenFence = Fence & { close(): Promise<void> };

/**
 * @param repository the directory whose own refs are the default
 * @returns undefined for `none`
 * @throws PipelineError `usage`
 */
export function openFence(
  { text }: Invocation,
  terminal: Terminal,
  repository: string,
): OpenFence | undefined {
  const place = text('fence') ?? 'repo';
  if (place === 'none') return undefined;
  const settings = searchPath(terminal);
  if (place === 'repo') return gitFence({ repository, settings });
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(place)) {
    const header = authorization(terminal.environment['PORTOLAN_GIT_TOKEN']);
    return gitFence({ repository: place, settings, reach: { header } });
  }
  const fence = recordFence(directoryRecords(resolve(terminal.directory, place)));
  return { ...fence, close: async () => undefined };
}
