import { basename, dirname, resolve } from 'node:path';
import type { World } from '../../../catalog/olm/foresight/world.ts';
import { graphDocument } from '../../../catalog/olm/graph/graph-document.ts';
import { hopGraph } from '../../../catalog/olm/graph/hop-graph.ts';
import { worldsOf } from '../../check/audit.ts';
import { PipelineError } from '../../error.ts';
import { pageText } from '../../report/page/page.ts';
import { mermaidText } from '../../report/pictures/mermaid.ts';
import { svgText } from '../../report/pictures/svg.ts';
import type { Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { printUnread, readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

const FORMATS = {
  mermaid: (worlds, name) => {
    // Of a catalog, unlike of a change, all channels are drawn.
    const text = mermaidText(onePackage(worlds, name), false);
    if (text !== undefined) return text;
    throw new PipelineError('too-large', 'the package has more edges than Mermaid can draw', {
      hint: 'use --format svg or --format html, which have no limit',
    });
  },
  svg: (worlds, name) => svgText(onePackage(worlds, name), { interactive: false, styled: true }),
  json: (worlds) => `${JSON.stringify(graphDocument(worlds))}\n`,
  html: (worlds) =>
    pageText({
      title: `Upgrades in ${worlds.map(({ name }) => name).join(', ')}`,
      headline: '',
      asked: [],
      summary: [],
      findings: [],
      graph: graphDocument(worlds),
    }),
} satisfies Readonly<Record<string, (worlds: readonly World[], name: string | undefined) => string>>;

const FORMAT_WORDS = Object.keys(FORMATS) as (keyof typeof FORMATS)[];

export const command: Command = {
  words: 'graph',
  operands: 'DIR|REFERENCE…',
  options: {
    package: { value: 'NAME', description: 'only this package; required for mermaid and svg' },
    olm: { value: 'v0|v1', description: 'OLM version on the clusters (default: both)' },
    format: { value: 'html|svg|mermaid|json', description: 'output format (default: html)' },
    out: { short: 'o', value: 'FILE', description: 'output file (default: standard output)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Draws one edge per bundle: the upgrade that the resolver chooses, not every edge in the catalog. The HTML page is a',
    'single file that needs no server. It has a search, one lane per channel, and the upgrade path from any version.',
  ].join('\n'),
  examples: [
    'portolan graph catalogs/v4.20 -o graph.html',
    'portolan graph catalogs/v4.20 --package etcd --format mermaid',
  ],
  run: async (invocation, terminal) => {
    const { operands, text, word } = invocation;
    const format = FORMATS[word('format', FORMAT_WORDS) ?? 'html'];
    const catalogs = await readOperands(operands, invocation, terminal);
    for (const { name, catalog } of catalogs) {
      if (catalog.packages.size === 0)
        terminal.err(`${plainText(name)} contains no packages: check the path\n`);
    }
    const isPartial = printUnread(catalogs, terminal);
    const name = text('package');
    if (name !== undefined && !catalogs.some(({ catalog }) => catalog.packages.has(name)))
      throw noPackage(
        name,
        catalogs.map(({ catalog }) => catalog),
      );
    const packages = name === undefined ? undefined : new Set([name]);
    const worlds = await worldsOf({
      catalogs,
      olm: olmOf(invocation),
      today: terminal.now().toISOString().slice(0, 10),
      ...(packages ? { packages } : {}),
    });
    await writeDiagram(format(worlds, name), text('out'), terminal);
    return isPartial ? 1 : 0;
  },
};

/** The versions of OLM that `--olm` selects; both without it. */
function olmOf({ word }: Invocation): readonly ('v0' | 'v1')[] {
  const olm = word('olm', ['v0', 'v1']);
  return olm === undefined ? ['v0', 'v1'] : [olm];
}

/** The graph of the one package that a diagram can show. @throws PipelineError `usage` */
function onePackage(worlds: readonly World[], name: string | undefined): ReturnType<typeof hopGraph> {
  if (name === undefined) throw usageError(command, '--package is required for a diagram');
  const [world, another] = worlds.filter(({ catalog }) => catalog.packages.has(name));
  const ofPackage = world?.catalog.packages.get(name);
  // `run` has refused it already, with the names that are similar.
  if (!world || !ofPackage) throw noPackage(name, []);
  if (another) throw usageError(command, 'several catalogs contain the package: name one DIR for a diagram');
  return hopGraph(world, ofPackage);
}

/** Writes the diagram to the file of `--out`, or prints it. */
async function writeDiagram(content: string, out: string | undefined, terminal: Terminal): Promise<void> {
  if (out === undefined) {
    await terminal.out(content);
    return;
  }
  const path = resolve(terminal.directory, out);
  writeFiles(dirname(path), new Map([[basename(path), content]]));
}
