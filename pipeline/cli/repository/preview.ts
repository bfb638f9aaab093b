import { resolve } from 'node:path';
import { openRepository } from '../../git/repository.ts';
import { type Previewed, previewCatalogs } from '../../publish/preview.ts';
import { searchPath } from '../../terminal.ts';
import { amountText, findingText, plainText } from '../../text.ts';
import type { Command } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'preview',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'path of the repository (default: current directory)' },
    base: {
      value: 'REF',
      description: 'tip of the target branch; the policy is read from it, or the layout found in it',
      required: true,
    },
    head: { value: 'REF', description: 'head of the pull request (default: HEAD)' },
    'base-image': { value: 'REFERENCE', description: 'opm image to build on (default: none)' },
    out: {
      short: 'o',
      value: 'DIR',
      description: 'write one image layout per catalog to this directory (default: preview)',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Builds only the catalogs that the pull request changes. Portolan reads git objects and does not execute anything from',
    'the pull request. It writes each image as an OCI layout, reads it back, serves it as opm serve does, and requests its',
    'packages over gRPC.',
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
      const all = await previewCatalogs(
        { repository, registry: client },
        { base, head, out, onto, now: terminal.now() },
      );
      for (const finding of all.flatMap(({ findings }) => findings)) terminal.err(findingText(finding));
      if (all.length === 0) terminal.err('no catalog changed: nothing to build\n');
      await terminal.out(
        format === 'json' ? `${JSON.stringify(all, null, 2)}\n` : all.map(previewLine).join(''),
      );
      return all.every(({ layout, findings }) => layout !== undefined && findings.length === 0) ? 0 : 1;
    } finally {
      client.close();
      await repository.close();
    }
  },
};

/** What became of one catalog: what its image serves and where it is, or that it was not built. */
function previewLine({ catalog, layout, digest, packages, changed }: Previewed): string {
  if (layout === undefined) return `${plainText(catalog)}: not built\n`;
  // Of a catalog in one file, it is not known which packages changed.
  const what = changed.length > 0 ? `; changed: ${plainText(changed.join(', '))}` : '';
  return `${plainText(catalog)}: serves ${amountText(packages.length, 'package')}${what}\n  ${plainText(layout)} ${digest}\n`;
}
