import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { load } from '../../../catalog/fbc/load.ts';
import { escapeHtml } from '../../../catalog/go/json-marshal.ts';
import { jsonString } from '../../../catalog/go/json-text.ts';
import { conversionError } from '../../../catalog/opm/model.ts';
import { readingError } from '../../../catalog/opm/reading-error.ts';
import { treeText, validationTree } from '../../../catalog/opm/tree.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import { OPM_RULES } from '../../../catalog/rules/opm.ts';
import { EmitError, emitYaml } from '../../../catalog/yaml/emit.ts';
import { directorySource, isFolder } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { printErrors } from './catalog.ts';
import { type OpmCommand, OUTPUT_FLAG, outputOf } from './command.ts';

export const command: OpmCommand = {
  words: 'validate',
  summary: 'Validate a file-based catalog. All errors are printed to standard error, each with its line.',
  operands: 'DIRECTORY',
  least: 1,
  most: 1,
  flags: { output: { ...OUTPUT_FLAG, default: '', description: 'format of the verdict (json|yaml)' } },
  run: async (call, world) => {
    const { operands, given } = call;
    const [directory = ''] = operands;
    const format =
      given('output') && call.text('output') !== '' ? outputOf(call, ['json', 'yaml']) : undefined;
    if (directory === '') throw new PipelineError('usage', 'the name of the directory is empty');
    const root = resolve(world.terminal.directory, directory);
    if (!isFolder(root)) throw new PipelineError('usage', `${directory} is not a directory`);
    const { findings } = await checkCatalog(directorySource(root), OPM_RULES);
    const failed = printErrors(findings, world);
    if (format) await world.terminal.out(verdictText(failed ? await opmError(root) : undefined, format));
    return failed ? 1 : 0;
  },
};

/** What opm says of an invalid catalog: of several files that it cannot read, opm says any one. */
async function opmError(root: string): Promise<string> {
  const source = directorySource(root);
  const { blobs, findings } = await load(source);
  const unread = findings.find(({ severity }) => severity === 'error');
  if (!unread) {
    const tree = validationTree(blobs);
    return conversionError(blobs) ?? (tree ? treeText(tree) : '');
  }
  const { file, line } = unread.location;
  const broken = (await source.files()).find(({ path }) => path === file);
  const words = broken && (broken.unreadable ? openingError(root, file) : readingError(await broken.read()));
  return words ?? `${file}:${line}: ${unread.message}`;
}

/** What opm says of a link that leads to no file; undefined where it would say something else. */
function openingError(root: string, path: string): string | undefined {
  const full = join(root, path);
  try {
    return statSync(full).isDirectory() ? `read ${full}: is a directory` : undefined;
  } catch (error) {
    const isLoop = error instanceof Error && 'code' in error && error.code === 'ELOOP';
    return `open ${path}: ${isLoop ? 'too many levels of symbolic links' : 'no such file or directory'}`;
  }
}

/** The result as opm prints it. Like Go's encoder, opm escapes `<`, `>` and `&` in JSON. */
function verdictText(message: string | undefined, format: 'json' | 'yaml'): string {
  if (format === 'yaml') return yamlVerdict(message);
  if (message === undefined) return '{\n  "passed": true\n}\n';
  const quoted = escapeHtml(jsonString(message));
  return `{\n  "passed": false,\n  "error": {\n    "message": ${quoted}\n  }\n}\n`;
}

/**
 * The result as YAML, and an empty line: opm ends the document, which has its own line feed, with another one.
 *
 * @throws PipelineError `usage` for a message that YAML cannot hold as opm writes it
 */
function yamlVerdict(message: string | undefined): string {
  const verdict = { passed: message === undefined, ...(message === undefined ? {} : { error: { message } }) };
  try {
    return `${emitYaml(verdict)}\n`;
  } catch (error) {
    if (!(error instanceof EmitError)) throw error;
    throw new PipelineError('usage', `cannot write the result as YAML: ${error.message}`, {
      hint: 'use -o json',
    });
  }
}
