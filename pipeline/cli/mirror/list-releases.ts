import { compareText } from '../../../catalog/go/text.ts';
import { ARCHITECTURES, type Architecture } from '../../../catalog/mirror/release/release-selection.ts';
import { parseReference } from '../../../catalog/reference.ts';
import { compareVersions } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import { openReleaseSource, type ReleaseSource } from '../../mirror/releases/update-graphs.ts';
import { linesText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { GRAPH_OPTIONS } from './release-options.ts';
import { releasePlaces } from './release-places.ts';

export const command: Command = {
  words: 'mirror list releases',
  operands: '',
  options: {
    channel: { value: 'CHANNEL', description: 'list the releases of this channel, for example stable-4.20' },
    version: { value: 'MINOR', description: 'list the releases of stable-MINOR, for example 4.20' },
    channels: { description: 'with --version: list the channels that have its releases instead' },
    'filter-by-archs': {
      value: 'ARCH[,ARCH]',
      description: `architectures: ${Object.keys(ARCHITECTURES).join(', ')} (default: amd64)`,
    },
    json: { description: 'print the list as JSON' },
    ...GRAPH_OPTIONS,
    ...REGISTRY_OPTIONS,
  },
  details: 'Without --channel and --version, the command lists the minor versions that have releases.',
  examples: [
    'portolan mirror list releases --channel stable-4.20',
    'portolan mirror list releases --version 4.20 --channels',
  ],
  run: async (invocation, terminal) => {
    const { text, flag } = invocation;
    const version = text('version');
    if (flag('channels') && version === undefined) throw usageError(command, '--channels needs --version');
    const channel = text('channel') ?? (version === undefined ? undefined : `stable-${version}`);
    const architectures = architecturesOf(invocation);
    if (channel === undefined && text('filter-by-archs') !== undefined)
      throw usageError(command, '--filter-by-archs needs --channel or --version');
    if (flag('channels') && architectures.length > 1)
      throw usageError(command, '--channels needs a single architecture');
    const source = openReleaseSource(releasePlaces(invocation, terminal));
    try {
      const listed = await listIn(source, { channel, architectures, channels: flag('channels') });
      if (flag('json')) await terminal.out(`${JSON.stringify(listed, null, 2)}\n`);
      else await terminal.out(linesText(linesOf(listed)));
      return 0;
    } finally {
      source.close();
    }
  },
};

/** What was asked for, with every field of it for `--json`. */
type Listed =
  | { readonly versions: readonly string[] }
  | { readonly channels: readonly string[] }
  | { readonly releases: readonly ListedReleases[] };

interface ListedReleases {
  readonly channel: string;
  readonly architecture: Architecture;
  readonly releases: readonly { readonly version: string; readonly image: string }[];
}

/**
 * The versions of OpenShift, the channels that have a version, or the releases of a channel, as the options ask.
 *
 * @param asked without a channel, the versions
 */
async function listIn(
  source: ReleaseSource,
  {
    channel,
    architectures,
    channels,
  }: {
    readonly channel: string | undefined;
    readonly architectures: readonly Architecture[];
    readonly channels: boolean;
  },
): Promise<Listed> {
  if (channel === undefined) return { versions: await minorVersions(source) };
  if (channels) return { channels: await source.channelsWith(channel, architectures[0] ?? 'amd64') };
  const releases: ListedReleases[] = [];
  for (const architecture of architectures) {
    const graph = await source.graphs(architecture)(channel);
    if (graph.releases.length === 0)
      throw new PipelineError('not-found', `channel ${channel} has no releases for ${architecture}`);
    const sorted = [...graph.releases].sort((a, b) => compareVersions(a.parsed, b.parsed));
    releases.push({
      channel,
      architecture,
      releases: sorted.map(({ version, image }) => ({ version, image })),
    });
  }
  return { releases };
}

/** Minor versions by the tags of the payloads, such as `4.20.3-x86_64`. */
async function minorVersions({ registry, releases }: ReleaseSource): Promise<string[]> {
  const found = new Set<string>();
  for await (const tag of registry.listTags(parseReference(`${releases}:latest`))) {
    // Tags that end with `.sig` are signatures.
    const [, minor] = /^(\d+\.\d+)\.\d+.*(?<!\.sig)$/.exec(tag) ?? [];
    if (minor !== undefined) found.add(minor);
  }
  // By their numbers: as texts, 4.10 would come before 4.9.
  const numbers = (minor: string): number[] => minor.split('.').map(Number);
  return [...found].sort((a, b) => {
    const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [numbers(a), numbers(b)];
    return majorA - majorB || minorA - minorB || compareText(a, b);
  });
}

/** The list as lines of text; releases are below their channel and architecture. */
function linesOf(listed: Listed): string[] {
  if ('versions' in listed) return listed.versions.map((one) => plainText(one));
  if ('channels' in listed) return listed.channels.map((one) => plainText(one));
  return listed.releases.flatMap(({ channel, architecture, releases }) => [
    `Channel: ${plainText(channel)}`,
    `Architecture: ${architecture}`,
    ...releases.map(({ version }) => plainText(version)),
  ]);
}

/** The architectures that the options name. @throws PipelineError `usage` */
function architecturesOf({ text }: Invocation): Architecture[] {
  const written = (text('filter-by-archs') ?? 'amd64').split(',');
  return written.map((one) => {
    const known = Object.keys(ARCHITECTURES).find((name): name is Architecture => name === one);
    if (known) return known;
    const expected = Object.keys(ARCHITECTURES).join(', ');
    throw usageError(command, `--filter-by-archs must be some of ${expected}, not ${JSON.stringify(one)}`);
  });
}
