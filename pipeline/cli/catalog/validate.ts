import { join, resolve } from 'node:path';
import { shellWord } from '../../../catalog/names.ts';
import { CATALOG_RULES } from '../../../catalog/rules/catalog.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import { holdsBundle } from '../../catalogs/bundle/open-directory.ts';
import { refuseDense } from '../../catalogs/read-catalogs.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { amountText, countText, findingText, plainText } from '../../text.ts';
import { type Command, usageError } from '../command.ts';
import { platformFolders } from '../platform-folders.ts';
import { SECOND_THREAD } from '../thread-options.ts';
import type { Verdict } from './stored-verdicts.ts';
import type { TreeAt } from './tree-at.ts';
import { checkDirectory } from './two-threads.ts';

export const command: Command = {
  words: 'validate',
  operands: 'DIR',
  options: {
    format: { value: 'text|json', description: 'output format (default: text)' },
    cache: {
      value: 'DIR',
      description: 'cache results in this directory; unchanged packages are not read again',
    },
    commit: {
      value: 'COMMIT',
      description: 'validate the directory in this commit, without a checkout',
    },
    repo: { value: 'DIR', description: 'with --commit: path of the repository (default: current directory)' },
  },
  examples: [
    'portolan validate catalogs/v4.20',
    'portolan validate --format json catalogs/v4.20 | jq .findings',
    'portolan validate --cache ~/.cache/portolan catalogs/v4.20',
    'portolan validate --commit origin/main --cache ~/.cache/portolan catalogs/v4.20',
  ],
  details: [
    'Reports all errors at once, each with its file and line. A directory with manifests/ and metadata/ is validated as a',
    'bundle (see portolan bundle validate).',
    '',
    'With --cache, Portolan identifies each package by the content of its files. For files that git tracks without changes',
    'and does not convert, it uses the object ids of git instead of reading them. It ignores a cache written by another',
    'version of Portolan. Portolan believes the cache. It refuses a directory that other users can write to, or that has',
    'files tracked by git.',
    'With --commit, DIR is a path in the repository.',
  ].join('\n'),
  run: async ({ operands: [root = '.'], text }, terminal) => {
    const commit = text('commit');
    if (commit === undefined && text('repo') !== undefined)
      throw usageError(command, '--repo requires --commit');
    const path = resolve(terminal.directory, root);
    if (commit === undefined && holdsBundle(path)) {
      const { validateBundle } = await import('../bundle/validate.ts');
      return validateBundle(path, text('format') ?? 'text', terminal);
    }
    const cache = text('cache');
    const at = commit === undefined ? undefined : { commit, repository: text('repo') ?? '.', path: root };
    const { findings, packages, bundles } = at
      ? await verdictAt(at, cache, terminal)
      : await verdictOn(path, cache, terminal);
    refuseDense(findings, root);
    const failed = findings.some(({ severity }) => severity === 'error');
    if (text('format') === 'json') {
      await terminal.out(`${JSON.stringify({ verdict: failed ? 'fail' : 'pass', findings }, null, 2)}\n`);
      return failed ? 1 : 0;
    }
    for (const finding of findings) await terminal.out(findingText(finding));
    const seen = `${amountText(packages, 'package')}, ${amountText(bundles, 'bundle')}`;
    terminal.err(`${failed ? 'FAIL' : 'PASS'}: ${countText(findings)} in ${seen}\n`);
    if (packages + bundles + findings.length === 0)
      terminal.err(`  ${plainText(root)} contains no packages: check the path\n`);
    // The folder of the newest version, as the example.
    const one = at ? undefined : platformFolders(path).at(-1);
    if (one !== undefined) {
      terminal.err(
        `  the directory contains several catalogs; validate them one by one, for example portolan validate ${shellWord(plainText(join(root, one)))}\n`,
      );
    }
    return failed ? 1 : 0;
  },
};

/** Checks a directory of a commit. A cache has the same keys as for a checkout: both use git's object ids. */
async function verdictAt(at: TreeAt, cache: string | undefined, terminal: Terminal): Promise<Verdict> {
  const { withTree } = await import('./tree-at.ts');
  return withTree(at, terminal, async (source) => {
    if (cache === undefined) return countedVerdict(await checkCatalog(source, CATALOG_RULES));
    const { checkStored } = await import('./stored-verdicts.ts');
    return checkStored(source, CATALOG_RULES, remembering(cache, terminal));
  });
}

/** The result of a check as the commands with a cache give it: with counts in place of the catalog. */
function countedVerdict({ findings, catalog }: Awaited<ReturnType<typeof checkCatalog>>): Verdict {
  const { packages, bundles } = catalog.blobs;
  return { findings, packages: packages.length, bundles: bundles.length };
}

/** Checks a directory: with the verdicts of a cache, or in two threads if it is large. */
async function verdictOn(path: string, cache: string | undefined, terminal: Terminal): Promise<Verdict> {
  if (cache !== undefined) {
    const { checkWorkTree } = await import('./stored-verdicts.ts');
    return checkWorkTree(path, CATALOG_RULES, remembering(cache, terminal));
  }
  return checkDirectory(path, CATALOG_RULES, SECOND_THREAD);
}

/** The directory of `--cache`, and where git is looked for. */
function remembering(cache: string, terminal: Terminal) {
  return { ...searchPath(terminal), cache: resolve(terminal.directory, cache) };
}
