import { resolve } from 'node:path';
import { packageBlob } from '../../../catalog/fbc/new-blob.ts';
import { imageType } from '../../../catalog/opm/icon.ts';
import { textOf } from '../../catalogs/write-blobs.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { OpmCommand } from './command.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

export const command: OpmCommand = {
  words: 'init',
  summary: 'Print a new package blob.',
  operands: 'NAME',
  least: 1,
  most: 1,
  flags: {
    'default-channel': {
      short: 'c',
      value: 'CHANNEL',
      description: 'default channel of the package',
    },
    icon: { short: 'i', value: 'FILE', description: 'icon of the package' },
    description: {
      short: 'd',
      value: 'FILE',
      description: 'README or other documentation of the operator',
    },
    output: { ...OUTPUT_FLAG, description: 'format of the blob (json|yaml)' },
  },
  run: async (call, { terminal }) => {
    const format = outputOf(call, ['json', 'yaml']);
    const read = (flag: string): Uint8Array | undefined =>
      call.text(flag) === '' ? undefined : readFileBytes(resolve(terminal.directory, call.text(flag)));
    const icon = read('icon');
    const description = read('description');
    const blob = packageBlob({
      name: call.operands[0] ?? '',
      defaultChannel: call.text('default-channel'),
      ...(icon ? { icon: { bytes: icon, mediaType: iconType(icon, call.text('icon')) } } : {}),
      description: new TextDecoder('utf-8', { ignoreBOM: true }).decode(description),
    });
    // A package without a name is nothing that opm would write.
    if (blob.name !== '') await terminal.out(textOf([blob], format));
    return 0;
  },
};

function iconType(bytes: Uint8Array, path: string): string {
  const type = imageType(bytes);
  if (type !== undefined) return type;
  throw new PipelineError('usage', `${path} is ${bytes.length === 0 ? 'empty' : 'not an image'}`, {
    hint: 'use an SVG, PNG, JPEG or GIF icon',
  });
}
