import { resolve } from 'node:path';
import { judge } from '../../catalog/judge.ts';
import { CATALOG_RULES } from '../../catalog/rules/catalog.ts';
import { holdsBundle } from '../bundle/holds.ts';
import { directorySource } from '../directory.ts';
import type { Verdict } from '../remembered.ts';
import { countText, findingText } from '../report/text.ts';
import type { Command } from './command.ts';
import { searchPath, type Terminal } from './terminal.ts';

export const command: Command = {
  words: 'validate',
  summary: 'Judge a catalog as opm does, every defect at once and on its line.',
  operands: 'DIR',
  options: {
    format: { value: 'text|json', description: 'how to print the findings (default: text)' },
    cache: { value: 'DIR', description: 'remember verdicts there: what did not change is not read again' },
  },
  examples: [
    'portolan validate catalogs/v4.20',
    'portolan validate --format json catalogs/v4.20 | jq .findings',
    'portolan validate --cache .cache/portolan catalogs/v4.20',
  ],
  details: [
    'A directory with manifests/ and metadata/ is judged as a bundle (portolan bundle validate).',
    '',
    'With --cache, packages are told apart by the content of their files, which is named by git where git has them as',
    'they are: nothing but the list of files is read then. The cache of another version of portolan is not used.',
  ].join('\n'),
  run: async ({ operands: [root = '.'], text }, terminal) => {
    const path = resolve(terminal.directory, root);
    if (holdsBundle(path)) {
      const { validateBundle } = await import('./bundle-validate.ts');
      return validateBundle(path, text('format') ?? 'text', terminal);
    }
    const { findings, packages, bundles } = await verdictOn(path, text('cache'), terminal);
    const failed = findings.some(({ severity }) => severity === 'error');
    if (text('format') === 'json') {
      await terminal.out(`${JSON.stringify({ verdict: failed ? 'fail' : 'pass', findings }, null, 2)}\n`);
      return failed ? 1 : 0;
    }
    for (const finding of findings) await terminal.out(findingText(finding));
    const seen = `${packages} packages, ${bundles} bundles`;
    terminal.err(`${failed ? 'FAIL' : 'PASS'}: ${countText(findings)} in ${seen}\n`);
    return failed ? 1 : 0;
  },
};

async function verdictOn(path: string, cache: string | undefined, terminal: Terminal): Promise<Verdict> {
  if (cache !== undefined) {
    const { judgeWorkTree } = await import('../remembered.ts');
    const settings = { ...searchPath(terminal), cache: resolve(terminal.directory, cache) };
    return judgeWorkTree(path, CATALOG_RULES, settings);
  }
  const { findings, catalog } = await judge(directorySource(path), CATALOG_RULES);
  const { packages, bundles } = catalog.blobs;
  return { findings, packages: packages.length, bundles: bundles.length };
}
