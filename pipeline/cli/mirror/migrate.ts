import { resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import { migratePolicies } from '../../../catalog/mirror/documents/migrate.ts';
import { objectsText } from '../../../catalog/mirror/kubernetes-object.ts';
import { readObjects } from '../../../catalog/mirror/read.ts';
import { readText } from '../../directory.ts';
import { dataBytes } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Command } from '../command.ts';

export const command: Command = {
  words: 'mirror migrate',
  operands: 'FILE…',
  options: {},
  examples: ['portolan mirror migrate imageContentSourcePolicy.yaml > imageDigestMirrorSet.yaml'],
  run: async ({ operands }, terminal) => {
    const read = operands.map((file) => readObjects(readText(resolve(terminal.directory, file)), file));
    const { objects, findings: found } = migratePolicies(read.flatMap((one) => one.objects));
    const findings = [...read.flatMap((one) => one.findings), ...found].sort(compareFindings);
    for (const finding of findings) terminal.err(findingText(finding));
    await terminal.out(dataBytes(objectsText(objects)));
    return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
  },
};
