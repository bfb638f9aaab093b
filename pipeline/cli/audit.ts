import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { definitionsIn } from '../bundle/definitions.ts';
import { auditPage } from '../report/audit-page.ts';
import { auditText } from '../report/audit-text.ts';
import { audit } from '../stages/audit.ts';
import { type Command, usageError } from './command.ts';
import { readOperands } from './operands.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import type { Terminal } from './terminal.ts';

const FORMATS = ['text', 'json', 'html'];

export const command: Command = {
  words: 'audit',
  summary: 'Say all that can be said of catalogs as they stand, the worst first, each with its fix.',
  operands: 'DIR|REFERENCE…',
  options: {
    olm: { value: 'v0|v1', description: 'what the clusters run (default: both)' },
    bundles: {
      value: 'DIR',
      description:
        'bundle directories PACKAGE/VERSION, for what only manifests tell: whether definitions change safely',
    },
    all: { description: 'write out what is only good to know, too' },
    format: {
      value: 'text|json|html',
      description: 'how to print the report (default: text); html is one file to send to a colleague',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Each operand is a catalog (a directory or an index image), or the checkout of a repository whose catalogs are the folders below catalogs/. Catalogs',
    'called after versions of the platform (v4.20) follow each other: what is installed is taken from one to the next.',
  ].join('\n'),
  examples: [
    'portolan audit catalogs/v4.20',
    'portolan audit ../community-operators --format html > audit.html',
  ],
  run: async (invocation, terminal) => {
    const { operands, text, flag } = invocation;
    const format = text('format') ?? 'text';
    if (!FORMATS.includes(format)) throw usageError(command, '--format must be text, json or html');
    const olm = text('olm');
    if (olm !== undefined && olm !== 'v0' && olm !== 'v1')
      throw usageError(command, '--olm must be v0 or v1');
    const roots = operands.flatMap((root) => catalogRoots(root, terminal));
    const catalogs = await readOperands(roots, invocation, terminal);
    const audited = await audit({
      catalogs,
      olm: olm === undefined ? ['v0', 'v1'] : [olm],
      today: terminal.now().toISOString().slice(0, 10),
      ...definitionsIn(text('bundles'), terminal),
    });
    const { report } = audited;
    if (format === 'html') await terminal.out(auditPage(audited));
    else if (format === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else await terminal.out(auditText(report, { all: flag('all') }));
    return report.findings.some(({ severity }) => severity === 'error') ? 1 : 0;
  },
};

/** The catalogs of a directory: those below its folder `catalogs`, or the directory itself. */
function catalogRoots(root: string, { directory }: Terminal): string[] {
  const folder = join(resolve(directory, root), 'catalogs');
  if (!existsSync(folder)) return [root];
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => join(root, 'catalogs', name));
}
