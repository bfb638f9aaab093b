/** A file that a command reads, or its standard input. */
import { resolve } from 'node:path';
import type { TemplateText } from '../../../catalog/opm/template/template.ts';
import { readFileBytes } from '../../directory.ts';
import type { Terminal } from '../../terminal.ts';

/**
 * @param path `-` or nothing for standard input
 * @throws PipelineError `not-found` or `io`
 */
export async function readInput(path: string | undefined, terminal: Terminal): Promise<TemplateText> {
  if (path === undefined || path === '-') {
    return { file: 'standard input', bytes: new TextEncoder().encode(await terminal.input()) };
  }
  return { file: path, bytes: readFileBytes(resolve(terminal.directory, path)) };
}
