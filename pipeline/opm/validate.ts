import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { judge } from '../../catalog/judge.ts';
import { OPM_RULES } from '../../catalog/rules/opm.ts';
import { directorySource, fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { complain } from './catalog.ts';
import type { OpmCommand } from './command.ts';
import { OUTPUT_FLAG } from './output.ts';

export const command: OpmCommand = {
  words: 'validate',
  summary: 'Validate a file-based catalog. Every defect is said at once, on its line, on standard error.',
  operands: 'DIRECTORY',
  least: 1,
  most: 1,
  flags: { output: { ...OUTPUT_FLAG, default: '', description: 'format of the verdict (json|yaml)' } },
  run: async ({ operands: [directory = ''] }, world) => {
    const root = resolve(world.terminal.directory, directory);
    if (!isDirectory(root)) throw new PipelineError('usage', `${directory} is not a directory`);
    const { findings } = await judge(directorySource(root), OPM_RULES);
    return complain(findings, world) ? 1 : 0;
  },
};

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fileError(error, path);
  }
}
