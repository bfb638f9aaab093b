import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import {
  annotationsYaml,
  type BundleLabels,
  bundleDockerfile,
  NOT_IN_A_LINE,
} from '../../../catalog/bundle/generate.ts';
import { kindOf } from '../../../catalog/bundle/manifest.ts';
import { directorySource, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { writeFiles } from '../../write.ts';
import { type Command, usageError } from '../command.ts';
import { manifestOf } from './manifest-of.ts';

export const command: Command = {
  words: 'bundle generate',
  operands: 'MANIFESTS',
  details: [
    'MANIFESTS is the folder with the manifests. Writes annotations.yaml to the sibling folder metadata, and',
    'bundle.Dockerfile to the current directory. Existing files are replaced only with --overwrite.',
  ].join('\n'),
  options: {
    package: { short: 'p', value: 'NAME', description: 'package of the bundle', required: true },
    channels: { short: 'c', value: 'A,B', description: 'channels of the bundle', required: true },
    default: { short: 'e', value: 'CHANNEL', description: 'default channel of the package' },
    overwrite: { description: 'replace existing files' },
  },
  examples: [
    'portolan bundle generate bundle/manifests --package etcd --channels stable,alpha --default stable',
  ],
  run: async ({ operands: [manifests = ''], needed, text, flag }, terminal) => {
    const path = resolve(terminal.directory, manifests);
    const channels = needed('channels')
      .split(',')
      .map((channel) => channel.trim());
    if (channels.some((channel) => channel === ''))
      throw usageError(command, '--channels contains an empty name');
    const defaultChannel = text('default') ?? '';
    const labels: BundleLabels = {
      mediaType: await mediaTypeOf(path),
      package: needed('package'),
      channels,
      defaultChannel,
    };
    if (defaultChannel !== '' && !channels.includes(defaultChannel))
      terminal.err(`warning: the bundle is not in the default channel ${JSON.stringify(defaultChannel)}\n`);
    const metadata = join(dirname(path), 'metadata');
    const shown = (to: string): string => relative(terminal.directory, to);
    // A line break would begin another instruction of the Dockerfile.
    const odd = [labels.package, ...channels, defaultChannel].find((one) => NOT_IN_A_LINE.test(one));
    if (odd !== undefined) throw usageError(command, `${JSON.stringify(odd)} has a control character`);
    if (NOT_IN_A_PATH.test(shown(path)))
      throw usageError(command, `the path ${JSON.stringify(shown(path))} cannot be written in a Dockerfile`);
    const dockerfile = bundleDockerfile(labels, { manifests: shown(path), metadata: shown(metadata) });
    const files: [folder: string, name: string, content: string][] = [
      [metadata, 'annotations.yaml', annotationsYaml(labels)],
      [terminal.directory, 'bundle.Dockerfile', dockerfile],
    ];
    if (!flag('overwrite')) checkAbsent(files);
    for (const [folder, name, content] of files) {
      const { written } = writeFiles(folder, new Map([[name, content]]));
      const place = relative(terminal.directory, join(folder, name));
      terminal.err(`${place} ${written.length > 0 ? 'written' : 'unchanged'}\n`);
    }
    return 0;
  },
};

/** What ends or expands a path in a Dockerfile. */
const NOT_IN_A_PATH = /[\s\p{Cc}"'\\$*?[\]]/u;

/**
 * The media type that opm gives to a folder of manifests: by the first document of each file at its top.
 *
 * @throws PipelineError `not-found`, `usage` for an empty folder, `too-large`
 */
async function mediaTypeOf(path: string): Promise<BundleLabels['mediaType']> {
  const files = (await directorySource(path).files()).filter(({ unreadable }) => unreadable === undefined);
  if (files.length === 0) throw new PipelineError('usage', `no manifests in ${path}`);
  if (files.some((file) => file.path === 'Chart.yaml')) return 'helm+v1';
  for (const file of files.filter(({ path: name }) => !name.includes('/'))) {
    const [first] = (await manifestOf(file, path))?.documents ?? [];
    const kind = first?.kind === 'value' ? kindOf(first.value) : undefined;
    if (kind?.kind === 'ClusterServiceVersion') return 'registry+v1';
  }
  return 'plain+v0';
}

/** Refuses to replace files with other content. @throws PipelineError `usage` */
function checkAbsent(files: readonly (readonly [folder: string, name: string, text: string])[]): void {
  for (const [folder, name, text] of files) {
    const path = join(folder, name);
    if (existsSync(path) && readText(path) !== text) {
      throw new PipelineError('usage', `${path} already exists with different content`, {
        hint: 'use --overwrite to replace it',
      });
    }
  }
}
