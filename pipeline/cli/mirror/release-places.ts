/** Where commands read releases from, as their options say. */
import { resolve } from 'node:path';
import { PipelineError } from '../../error.ts';
import { openDownloads } from '../../mirror/charts/download.ts';
import { RELEASES, type ReleasePlaces } from '../../mirror/releases/update-graphs.ts';
import type { Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { clientOptions, registryClientFor } from '../registry-access.ts';

/**
 * Opens what the options name.
 *
 * @param more URLs and references that the command line names as well
 * @throws PipelineError `usage`
 */
export function releasePlaces(
  invocation: Invocation,
  terminal: Terminal,
  more: {
    readonly urls?: readonly (string | undefined)[];
    readonly images?: readonly (string | undefined)[];
  } = {},
): ReleasePlaces {
  const graphs = invocation.text('update-graph');
  const releases = invocation.text('release-repository') ?? RELEASES;
  const hosts = [graphs, ...(more.urls ?? [])].flatMap(hostsOf);
  const client = registryClientFor(invocation, terminal, { named: [releases, ...(more.images ?? [])] });
  const { download, close } = openDownloads(clientOptions(invocation, terminal, { hosts }));
  return {
    registry: client,
    download,
    graphs: graphs === undefined || isUrl(graphs) ? graphs : resolve(terminal.directory, graphs),
    releases,
    close: () => {
      close();
      client.close();
    },
  };
}

/** Whether a text is a URL, and not a path. */
export function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** The host of a URL that somebody typed: who types it means it. @throws PipelineError `usage` */
function hostsOf(text: string | undefined): string[] {
  if (text === undefined || !isUrl(text)) return [];
  if (URL.canParse(text)) return [new URL(text).host];
  throw new PipelineError('usage', `${JSON.stringify(text)} is not a valid URL`);
}
