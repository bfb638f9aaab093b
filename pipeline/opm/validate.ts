import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeHtml } from '../../catalog/cache/go-json.ts';
import { judge } from '../../catalog/judge.ts';
import { load } from '../../catalog/load.ts';
import { conversionError } from '../../catalog/opm/model.ts';
import { treeText, validationTree } from '../../catalog/opm/tree.ts';
import { OPM_RULES } from '../../catalog/rules/opm.ts';
import { emitYaml } from '../../catalog/yaml/emit.ts';
import { directorySource } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { fileError } from '../file-error.ts';
import { complain } from './catalog.ts';
import type { OpmCommand } from './command.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

export const command: OpmCommand = {
  words: 'validate',
  summary: 'Validate a file-based catalog. Every defect is said at once, on its line, on standard error.',
  operands: 'DIRECTORY',
  least: 1,
  most: 1,
  flags: { output: { ...OUTPUT_FLAG, default: '', description: 'format of the verdict (json|yaml)' } },
  run: async (call, world) => {
    const { operands, given } = call;
    const [directory = ''] = operands;
    const format =
      given('output') && call.text('output') !== '' ? outputOf(call, ['json', 'yaml']) : undefined;
    const root = resolve(world.terminal.directory, directory);
    if (!isDirectory(root)) throw new PipelineError('usage', `${directory} is not a directory`);
    const { findings } = await judge(directorySource(root), OPM_RULES);
    const failed = complain(findings, world);
    if (format) await world.terminal.out(verdictText(failed ? await opmError(root) : undefined, format));
    return failed ? 1 : 0;
  },
};

/** What opm says of an invalid catalog: of several things that it cannot read, opm says any one. */
async function opmError(root: string): Promise<string> {
  const { blobs, findings } = await load(directorySource(root));
  const unread = findings.find(({ severity }) => severity === 'error');
  if (unread) return `${unread.location.file}:${unread.location.line}: ${unread.message}`;
  const tree = validationTree(blobs);
  return conversionError(blobs) ?? (tree ? treeText(tree) : '');
}

function verdictText(message: string | undefined, format: 'json' | 'yaml'): string {
  const verdict = { passed: message === undefined, ...(message === undefined ? {} : { error: { message } }) };
  return format === 'json' ? `${escapeHtml(JSON.stringify(verdict, null, 2))}\n` : `${emitYaml(verdict)}\n`;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fileError(error, path);
  }
}
