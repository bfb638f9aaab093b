import { resolve } from 'node:path';
import { catalogPlaces } from '../catalogs.ts';
import type { PlacedDiff } from '../check/judge.ts';
import { openRepository } from '../git/repository.ts';
import { diffMarkdown, diffText } from '../report/diff.ts';
import { diffPlaces, diffRevisions } from '../stages/diff.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { searchPath, type Terminal } from './terminal.ts';

const FORMATS: Readonly<Record<string, (diffs: readonly PlacedDiff[]) => string>> = {
  text: diffText,
  json: (diffs) => `${JSON.stringify({ packages: diffs }, null, 2)}\n`,
  markdown: diffMarkdown,
};

export const command: Command = {
  words: 'diff',
  summary: 'Compare two states of catalogs: what was changed, what clusters will do otherwise.',
  operands: 'BASE HEAD',
  options: {
    repo: { value: 'DIR', description: 'a git repository: BASE and HEAD are revisions of it' },
    package: { value: 'NAME', description: 'only this package', multiple: true },
    format: { value: 'text|json|markdown', description: 'how to print the difference (default: text)' },
  },
  details:
    'BASE and HEAD are directories, each with one catalog; with --repo, revisions, and every catalog that differs is compared.',
  examples: [
    'portolan diff published/v4.20 catalogs/v4.20 --package etcd',
    'portolan diff HEAD~1 HEAD --repo . --format markdown',
  ],
  run: async (invocation, terminal) => {
    const format = FORMATS[invocation.text('format') ?? 'text'];
    if (!format) throw usageError(command, `--format must be one of ${Object.keys(FORMATS).join(', ')}`);
    const packages = new Set(invocation.list('package'));
    const diffs = await diffsOf(invocation, terminal, packages.size > 0 ? packages : undefined);
    await terminal.out(format(diffs.filter((diff) => packages.size === 0 || packages.has(diff.package))));
    return 0;
  },
};

async function diffsOf(
  { operands, text }: Invocation,
  terminal: Terminal,
  packages: ReadonlySet<string> | undefined,
): Promise<PlacedDiff[]> {
  const [base = '', head = ''] = operands;
  const repo = text('repo');
  if (repo === undefined) {
    const [[was], [is]] = [
      catalogPlaces([base], terminal.directory),
      catalogPlaces([head], terminal.directory),
    ];
    return was && is ? diffPlaces(was, is, packages) : [];
  }
  const repository = await openRepository(resolve(terminal.directory, repo), searchPath(terminal));
  try {
    const today = terminal.now().toISOString().slice(0, 10);
    return await diffRevisions(repository, { base, head, today });
  } finally {
    await repository.close();
  }
}
