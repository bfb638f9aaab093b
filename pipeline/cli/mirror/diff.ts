import { basename, dirname, join, resolve } from 'node:path';
import {
  deleteImagesText,
  diffMirrors,
  type MirrorDiff,
  type PlannedMapping,
} from '../../../catalog/mirror/diff.ts';
import { mappingText, readMapping } from '../../../catalog/mirror/mapping.ts';
import { readReport } from '../../../catalog/mirror/report.ts';
import { isFolder, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { checkPlanIn } from '../../mirror/archive/plan.ts';
import { linesText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Command } from '../command.ts';

export const command: Command = {
  words: 'mirror diff',
  operands: 'OLD NEW',
  options: {
    mapping: { value: 'FILE', description: 'write a mapping.txt with the new and changed images' },
    'delete-images': {
      value: 'FILE',
      description: 'write a delete-images.yaml (oc-mirror format) with the images that can be deleted',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
  },
  details: 'OLD and NEW are each an output folder of mirror plan, its report.json, or a mapping.txt.',
  examples: ['portolan mirror diff last/ mirror/ --mapping new.txt --delete-images delete-images.yaml'],
  run: async ({ operands, text }, terminal) => {
    const [before, after] = operands.map((path) => planAt(resolve(terminal.directory, path)));
    const diff = diffMirrors(before?.images ?? [], after?.images ?? [], new Set(after?.catalogs));
    writeTo(terminal.directory, text('mapping'), mappingText([...diff.add, ...diff.change]));
    writeTo(terminal.directory, text('delete-images'), deleteImagesText(diff.prune));
    await terminal.out(text('format') === 'json' ? `${JSON.stringify(diff, null, 2)}\n` : diffText(diff));
    return 0;
  },
};

interface Plan {
  readonly images: readonly PlannedMapping[];
  /** Where the index images are, as far as that is known. */
  readonly catalogs: readonly string[];
}

/** The mapping of a plan, given by its folder, its report or its mapping.txt. @throws PipelineError `usage`, `not-found` */
function planAt(path: string): Plan {
  const file = isFolder(path) ? join(path, 'report.json') : path;
  checkPlanIn(dirname(file));
  if (file.endsWith('.json')) {
    const report = readReport(readText(file));
    if (report) return { ...report, catalogs: report.catalogs.map(({ destination }) => destination) };
    throw new PipelineError('usage', `${file} is not a report of mirror plan`);
  }
  const { mappings, findings } = readMapping(readText(file), file);
  const [wrong] = findings;
  if (wrong) throw new PipelineError('usage', `${file}:${wrong.location.line}: ${wrong.message}`);
  return { images: mappings, catalogs: [] };
}

/** Writes a file that an option names; nothing without the option. */
function writeTo(directory: string, file: string | undefined, content: string): void {
  if (file === undefined) return;
  const path = resolve(directory, file);
  writeFiles(dirname(path), new Map([[basename(path), content]]));
}

/** The images to add, to change, to delete and still needed, a line each, with their numbers. */
function diffText({ add, change, unchanged, prune, keep }: MirrorDiff): string {
  const lines = [
    ...add.map(({ source, destination }) => `+ ${destination} (${source})`),
    ...change.map(({ source, destination, before }) => `~ ${destination} (${before} -> ${source})`),
    ...prune.map(({ source, destination }) => `- ${destination} (${source})`),
    ...keep.map(({ destination }) => `= ${destination}: still needed`),
    `${add.length} to add, ${change.length} to change, ${unchanged.length} unchanged, ${prune.length} can be deleted`,
  ];
  return linesText(lines);
}
