import { resolve } from 'node:path';
import { compareFindings } from '../../catalog/finding.ts';
import { load } from '../../catalog/load.ts';
import { renderJson, renderOrder } from '../../catalog/render.ts';
import { directorySource } from '../directory.ts';
import { findingText } from '../report/text.ts';
import { type Command, usageError } from './command.ts';

/** Characters that are collected before they are written. */
const CHUNK = 1 << 16;

export const command: Command = {
  words: 'render',
  summary: 'Print catalogs as one stream of JSON or YAML, byte for byte as opm.',
  operands: 'DIR…',
  options: {
    output: { short: 'o', value: 'json|yaml', description: 'format of the stream (default: json)' },
  },
  examples: ['portolan render catalogs/v4.20 -o yaml'],
  run: async ({ operands, text }, terminal) => {
    const format = text('output') ?? 'json';
    if (format !== 'json') throw usageError(command, `-o must be json, not ${JSON.stringify(format)}`);
    for (const root of operands) {
      const { blobs, findings } = await load(directorySource(resolve(terminal.directory, root)));
      const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
      for (const finding of errors) terminal.err(findingText(finding));
      if (errors.length > 0) return 1;
      let chunk = '';
      for (const blob of renderOrder(blobs)) {
        chunk += renderJson(blob);
        if (chunk.length < CHUNK) continue;
        await terminal.out(chunk);
        chunk = '';
      }
      await terminal.out(chunk);
    }
    return 0;
  },
};
