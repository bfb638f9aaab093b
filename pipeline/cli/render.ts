import { joinedBlobs } from '../../catalog/blobs.ts';
import { compareFindings } from '../../catalog/finding.ts';
import type { Blobs } from '../../catalog/model.ts';
import { registryClient } from '../render/client.ts';
import { renderReference } from '../render/reference.ts';
import { writeBlobs } from '../render/write.ts';
import { findingText } from '../report/text.ts';
import { type Command, usageError } from './command.ts';

export const command: Command = {
  words: 'render',
  summary: 'Print catalogs as one stream of JSON or YAML, byte for byte as opm.',
  operands: 'DIR|REFERENCE…',
  options: {
    output: { short: 'o', value: 'json|yaml', description: 'format of the stream (default: json)' },
  },
  examples: ['portolan render catalogs/v4.20 -o yaml'],
  run: async ({ operands, text }, terminal) => {
    const format = text('output') ?? 'json';
    if (format !== 'json' && format !== 'yaml') {
      throw usageError(command, `-o must be json or yaml, not ${JSON.stringify(format)}`);
    }
    const rendered: Blobs[] = [];
    for (const reference of operands) {
      const { blobs, findings } = await renderReference(reference, {
        directory: terminal.directory,
        registry: (host) => registryClient(terminal, host, { plainHttp: false }),
      });
      const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
      for (const finding of errors) terminal.err(findingText(finding));
      if (errors.length > 0) return 1;
      rendered.push(blobs);
    }
    await writeBlobs(joinedBlobs(rendered), format, terminal.out);
    return 0;
  },
};
