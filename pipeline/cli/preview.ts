import { resolve } from 'node:path';
import { openRepository } from '../git/repository.ts';
import { amount, findingText, plain } from '../report/text.ts';
import { type Previewed, preview } from '../stages/preview.ts';
import type { Command } from './command.ts';
import { registryClientFor } from './registry-access.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import { searchPath } from './terminal.ts';

export const command: Command = {
  words: 'preview',
  summary:
    'Build the index images that a pull request would publish, start them, and ask for their packages.',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'the repository (default: this directory)' },
    base: { value: 'REF', description: 'tip of the branch that the pull request is for; its policy counts' },
    head: { value: 'REF', description: "the pull request's head (default: HEAD)" },
    'base-image': { value: 'REFERENCE', description: 'image of opm to build on (default: nothing)' },
    out: {
      short: 'o',
      value: 'DIR',
      description: 'gets one image layout for each catalog (default: preview)',
    },
    format: { value: 'text|json', description: 'how to print what was built (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Only catalogs that the pull request changes are built, from git objects: nothing of it is executed. Each is written',
    'as an image layout, read back, served as opm serve does, and asked by gRPC for its packages.',
  ].join('\n'),
  examples: ['portolan preview --base origin/main --head HEAD --out preview'],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const repository = await openRepository(directory, searchPath(terminal));
    const onto = invocation.text('base-image');
    const client = registryClientFor(invocation, terminal, { named: [onto] });
    try {
      const out = resolve(terminal.directory, invocation.text('out') ?? 'preview');
      const [base, head] = [invocation.needed('base'), invocation.text('head') ?? 'HEAD'];
      const all = await preview(
        { repository, registry: client },
        { base, head, out, onto, now: terminal.now() },
      );
      for (const finding of all.flatMap(({ findings }) => findings)) terminal.err(findingText(finding));
      if (all.length === 0) terminal.err('no catalog is changed: nothing is built\n');
      await terminal.out(format === 'json' ? `${JSON.stringify(all, null, 2)}\n` : all.map(line).join(''));
      return all.every(({ layout, findings }) => layout !== undefined && findings.length === 0) ? 0 : 1;
    } finally {
      client.close();
      await repository.close();
    }
  },
};

function line({ catalog, layout, digest, packages, changed }: Previewed): string {
  if (layout === undefined) return `${plain(catalog)}: not built\n`;
  return `${plain(catalog)}: serves ${amount(packages.length, 'package')}, changed ${plain(changed.join(', '))}\n  ${plain(layout)} ${digest}\n`;
}
