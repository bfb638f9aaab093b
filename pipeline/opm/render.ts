import { type Blobs, combined } from '../../catalog/model.ts';
import { renderReference } from '../render/reference.ts';
import { writeBlobs } from '../render/write.ts';
import { findingText } from '../report/text.ts';
import type { OpmCommand } from './command.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

export const command: OpmCommand = {
  words: 'render',
  summary: 'Print catalogs as one stream of file-based catalog objects.',
  operands: 'DIRECTORY|IMAGE…',
  least: 1,
  most: Number.POSITIVE_INFINITY,
  flags: { output: { ...OUTPUT_FLAG, description: 'format of the stream (json|yaml)' } },
  run: async (call, { terminal }) => {
    const format = outputOf(call, ['json', 'yaml']);
    const rendered: Blobs[] = [];
    for (const reference of call.operands) {
      const { blobs, findings } = await renderReference(reference, terminal);
      const errors = findings.filter(({ severity }) => severity === 'error');
      for (const finding of errors) terminal.err(findingText(finding));
      if (errors.length > 0) return 1;
      rendered.push(blobs);
    }
    await writeBlobs(combined(rendered), format, terminal.out);
    return 0;
  },
};
