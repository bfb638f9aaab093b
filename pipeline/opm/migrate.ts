import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import type { Blobs } from '../../catalog/model.ts';
import { type RenderFormat, renderGroups } from '../../catalog/render.ts';
import { fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { textOf } from '../render/write.ts';
import { writeFiles } from '../write.ts';
import { readAll } from './catalog.ts';
import type { OpmCommand } from './command.ts';
import { MIGRATE_FLAG, migratesTo } from './migrations.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

export const command: OpmCommand = {
  words: 'migrate',
  summary: 'Write a catalog anew, a directory for each package.',
  operands: 'CATALOG OUTPUT',
  least: 2,
  most: 2,
  flags: {
    output: { ...OUTPUT_FLAG, description: 'format of the files (json|yaml)' },
    'migrate-level': MIGRATE_FLAG,
  },
  run: async (call, world) => {
    const [reference = '', output = ''] = call.operands;
    const format = outputOf(call, ['json', 'yaml']);
    const out = resolve(world.terminal.directory, output);
    checkEmpty(out, output);
    const blobs = await readAll(call, world, {
      references: [reference],
      only: 'catalogs',
      migrates: migratesTo(call.text('migrate-level')),
    });
    if (!blobs) return 1;
    const files = catalogFiles(blobs, format);
    makeFolder(out);
    for (const [path, text] of files) {
      writeFiles(join(out, dirname(path)), new Map([[`catalog.${format}`, text]]));
    }
    world.terminal.err(`${files.length} files written to ${output}\n`);
    return 0;
  },
};

function checkEmpty(path: string, shown: string): void {
  let names: string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    const failure = fileError(error, path);
    if (
      failure.code === 'not-found' &&
      !(error instanceof Error && 'code' in error && error.code === 'ENOTDIR')
    )
      return;
    throw failure;
  }
  if (names.length > 0) throw new PipelineError('usage', `the directory ${shown} must be empty`);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw fileError(error, path);
  }
}

/** @throws PipelineError `usage` for a package whose name leads out of the directory */
function catalogFiles(blobs: Blobs, format: RenderFormat): (readonly [path: string, text: string])[] {
  const { packages, rest } = renderGroups(blobs);
  const files = packages.map(([name, group]) => {
    if (!isLocal(name)) {
      throw new PipelineError(
        'usage',
        `the package name ${JSON.stringify(name)} is no path within the directory`,
      );
    }
    return [`${name}/catalog`, textOf(group, format)] as const;
  });
  return rest.length === 0 ? files : [...files, ['catalog', textOf(rest, format)]];
}

function isLocal(path: string): boolean {
  const clean = normalize(path);
  return !isAbsolute(path) && clean !== '..' && !clean.startsWith('../') && !path.includes('\0');
}
