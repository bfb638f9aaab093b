import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { FileText } from '../../../catalog/edit/file.ts';
import { LAYOUTS, type LaidBlob, type Layout, laidOut } from '../../../catalog/edit/layout.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { blobCount } from '../../../catalog/fbc/model.ts';
import { type RenderFormat, renderOrder } from '../../../catalog/fbc/render.ts';
import { type CatalogSource, sourceOf } from '../../../catalog/source.ts';
import { textsOf } from '../../catalogs/edit/catalog.ts';
import { writeNewFolder } from '../../catalogs/render/files.ts';
import { textOf } from '../../catalogs/write-blobs.ts';
import { directorySource, fileError, readContent } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { amountText } from '../../text.ts';
import type { Command } from '../command.ts';
import { formatOf, printErrors } from '../rendering.ts';

export const command: Command = {
  words: 'convert',
  operands: 'DIR|FILE',
  options: {
    by: {
      value: 'file|package|blob',
      description: 'what each file contains: the whole catalog, a package or a blob (default: package)',
    },
    to: { value: 'DIR', description: 'output directory; must be empty or not exist', required: true },
    output: {
      short: 'o',
      value: 'json|yaml',
      description: 'rewrite every blob in this format (default: keep the text of each blob)',
    },
  },
  details: [
    'Without -o, the text of each blob stays unchanged, with its comments and formatting. The content of the catalog is the',
    'same before and after. Blobs keep the order in which they were read.',
  ].join('\n'),
  examples: [
    'portolan convert catalogs/v4.20 --by blob --to split',
    'portolan convert catalog.json --by package --to catalogs/v4.20 -o yaml',
  ],
  run: async (invocation, terminal) => {
    const to = invocation.needed('to');
    const layout = invocation.word('by', LAYOUTS) ?? 'package';
    const format = invocation.text('output') === undefined ? undefined : formatOf(invocation);
    const source = sourceAt(resolve(terminal.directory, invocation.operands[0] ?? '.'));
    const { blobs, findings } = await load(source);
    if (printErrors(findings, terminal)) return 1;
    const laid = format
      ? renderOrder(blobs).map((blob) => ({ ...blob, format, text: textOf([blob], format) }))
      : (await textsOf(source)).flatMap(blobTexts);
    // The text of a file is cut by one format: a file with both gives another number of pieces than of blobs.
    if (!format && laid.length !== blobCount(blobs)) {
      throw new PipelineError('usage', 'a file contains both JSON and YAML', { hint: SAY_FORMAT });
    }
    checkFormats(laid, layout);
    const files = laidOut(laid, layout);
    writeNewFolder(resolve(terminal.directory, to), files);
    terminal.err(`wrote ${amountText(files.size, 'file')} to ${to}\n`);
    return 0;
  },
};

const SAY_FORMAT = 'use -o json or -o yaml';

/** A directory as a catalog, or one file as all of it. */
function sourceAt(path: string): CatalogSource {
  try {
    if (statSync(path).isDirectory()) return directorySource(path);
  } catch (error) {
    throw fileError(error, path);
  }
  return sourceOf({ [basename(path)]: readContent(path) });
}

/** The blobs of a file with their own texts. A piece without a blob, such as a document of comments, is left out. */
function blobTexts({ format, pieces }: FileText): LaidBlob[] {
  return pieces.flatMap(({ text, blob }) => (blob ? [{ ...blob, text, format }] : []));
}

/** Refuses to put JSON and YAML into one file. @throws PipelineError `usage` */
function checkFormats(laid: readonly LaidBlob[], layout: Layout): void {
  const formats = new Set<RenderFormat>(laid.map(({ format }) => format));
  if (layout !== 'file' || formats.size < 2) return;
  throw new PipelineError('usage', 'the catalog contains both JSON and YAML', {
    hint: SAY_FORMAT,
  });
}
