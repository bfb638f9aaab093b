import { resolve } from 'node:path';
import { packageBlob } from '../../../catalog/fbc/new-blob.ts';
import { ByteWriter } from '../../../catalog/go/json-marshal.ts';
import { jsonString } from '../../../catalog/go/json-text.ts';
import { parseJson } from '../../../catalog/json.ts';
import { imageType } from '../../../catalog/opm/icon.ts';
import { textOf } from '../../catalogs/write-blobs.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { dataBytes } from '../../terminal.ts';
import { type OpmCommand, OUTPUT_FLAG, outputOf } from './command.ts';

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
    const description = jsonOf(read('description') ?? new Uint8Array());
    const parsed = parseJson(description) as string; // A JSON text of a string.
    const blob = packageBlob({
      name: call.operands[0] ?? '',
      defaultChannel: call.text('default-channel'),
      ...(icon ? { icon: { bytes: icon, mediaType: iconType(icon, call.text('icon')) } } : {}),
      description: parsed,
    });
    // A package without a name is nothing that opm would write.
    if (blob.name === '') return 0;
    const text = textOf([blob], format);
    // In JSON, a byte that is not UTF-8 is an escape, as opm writes it; the parsed text has only the character for it.
    const written = jsonString(parsed);
    await terminal.out(dataBytes(format === 'json' ? withDescription(text, written, description) : text));
    return 0;
  },
};

/** Bytes as a JSON string of Go's: each byte that is not UTF-8 is an escaped U+FFFD. Characters of HTML are not escaped. */
function jsonOf(bytes: Uint8Array): string {
  const quoted = decoder.decode(new ByteWriter(bytes.length).quoted(bytes).finish());
  // Every escape is looked at, so that the `u003c` behind an escaped backslash stays as it is.
  return quoted.replaceAll(/\\(?:u00(3c|3e|26)|.)/g, (escaped, code?: string) =>
    code === undefined ? escaped : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Go keeps a byte order mark, which Node drops by default. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A package's JSON, of which the description is the last member, with the JSON of another text there; as it is without one. */
function withDescription(json: string, from: string, to: string): string {
  const at = json.lastIndexOf(from);
  return at < 0 ? json : `${json.slice(0, at)}${to}${json.slice(at + from.length)}`;
}

/** The media type of an icon, by its bytes. @throws PipelineError `usage` */
function iconType(bytes: Uint8Array, path: string): string {
  const type = imageType(bytes);
  if (type !== undefined) return type;
  throw new PipelineError('usage', `${path} is ${bytes.length === 0 ? 'empty' : 'not an image'}`, {
    hint: 'use an SVG, PNG, JPEG or GIF icon',
  });
}
