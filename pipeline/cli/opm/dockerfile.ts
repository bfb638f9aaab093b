import { writeFileSync } from 'node:fs';
import { dirname, join, normalize, parse, resolve } from 'node:path';
import { dockerfileText, OPM_IMAGE } from '../../../catalog/opm/dockerfile.ts';
import { fileError, isFolder, refuseLinkOut } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Call, OpmCommand } from './command.ts';

export const command: OpmCommand = {
  words: 'generate dockerfile',
  summary: 'Write a Dockerfile for a catalog next to its directory. An existing file is not changed.',
  operands: 'DIRECTORY',
  least: 1,
  most: 1,
  flags: {
    'base-image': { short: 'i', value: 'IMAGE', default: OPM_IMAGE, description: 'image to build on' },
    'builder-image': {
      short: 'b',
      value: 'IMAGE',
      default: OPM_IMAGE,
      description: 'opm image that builds the cache',
    },
    'binary-image': { value: 'IMAGE', description: 'deprecated: sets both images' },
    'extra-labels': { short: 'l', value: 'KEY=VALUE', list: true, description: 'additional labels' },
  },
  exclusive: ['binary-image', 'base-image'],
  run: async (call, { terminal }) => {
    // Without a slash at its end, but for `/` itself.
    const directory = normalize(call.operands[0] ?? '').replace(/(?<=.)\/$/, '');
    const { dir, base: name } = parse(directory);
    if (call.given('binary-image')) terminal.err('--binary-image is deprecated, use --base-image\n');
    const [images, labels] = [imagesOf(call), labelsOf(call)];
    for (const part of [...labels].flat()) mustBeOneLine(part);
    for (const part of [name, images.base, images.builder]) mustBeOneWord(part);
    if (name === '') throw new PipelineError('usage', 'the root directory cannot be a catalog');
    const text = dockerfileText({ directory: name, ...images, labels });
    const path = resolve(terminal.directory, join(dir, `${name}.Dockerfile`));
    if (!isFolder(resolve(terminal.directory, directory))) {
      throw new PipelineError('usage', `${directory} is not a directory`);
    }
    writeNew(path, text);
    return 0;
  },
};

/** @throws PipelineError `usage` for a part of the Dockerfile whose line breaks would begin instructions */
function mustBeOneLine(part: string): void {
  if (/\p{Cc}/u.test(part))
    throw new PipelineError('usage', `${JSON.stringify(part)} has a line break or another control character`);
}

/** @throws PipelineError `usage` for a part of the Dockerfile that would be several words, or an option */
function mustBeOneWord(part: string): void {
  mustBeOneLine(part);
  if (/\s|^-/.test(part))
    throw new PipelineError('usage', `${JSON.stringify(part)} must be one word that does not begin with -`);
}

/** The older flag --binary-image names both images, unless --builder-image is given. */
function imagesOf(call: Call): { base: string; builder: string } {
  const base = call.given('binary-image') ? call.text('binary-image') : call.text('base-image');
  const builder =
    call.given('binary-image') && !call.given('builder-image') ? base : call.text('builder-image');
  if (call.text('builder-image') === 'scratch') {
    throw new PipelineError('usage', '--builder-image cannot be scratch: it must contain opm');
  }
  if (base === '') throw new PipelineError('usage', '--base-image is empty');
  return { base, builder };
}

/** The labels of `--extra-labels`, by key. @throws PipelineError `usage` */
function labelsOf(call: Call): Map<string, string> {
  return new Map(
    call.list('extra-labels').map((label) => {
      const equals = label.indexOf('=');
      if (equals < 0)
        throw new PipelineError('usage', `--extra-labels must be KEY=VALUE, not ${JSON.stringify(label)}`);
      return [label.slice(0, equals), label.slice(equals + 1)];
    }),
  );
}

/** Writes a file that does not exist yet. @throws PipelineError for one that does: opm replaces none either */
function writeNew(path: string, text: string): void {
  refuseLinkOut(dirname(path));
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw fileError(error, path);
  }
}
