/** A file that a command reads, or its standard input. */
import { resolve } from 'node:path';
import type { TemplateText } from '../../catalog/template/template.ts';
import type { Terminal } from '../cli/terminal.ts';
import { readFileBytes } from '../directory.ts';

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
