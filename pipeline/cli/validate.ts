import { resolve } from 'node:path';
import { judge } from '../../catalog/judge.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { judgeBundle } from '../bundle/judge.ts';
import { holdsBundle, openBundleDirectory } from '../bundle/open.ts';
import { directorySource } from '../directory.ts';
import { countText, findingText } from '../report/text.ts';
import { printJudgement } from './bundle-validate.ts';
import type { Command } from './command.ts';

export const command: Command = {
  words: 'validate',
  summary: 'Judge a catalog as opm does, every defect at once and on its line.',
  operands: 'DIR',
  options: {
    format: { value: 'text|json', description: 'how to print the findings (default: text)' },
  },
  examples: [
    'portolan validate catalogs/v4.20',
    'portolan validate --format json catalogs/v4.20 | jq .findings',
  ],
  details: 'A directory with manifests/ and metadata/ is judged as a bundle (portolan bundle validate).',
  run: async ({ operands: [root = '.'], text }, terminal) => {
    const path = resolve(terminal.directory, root);
    if (holdsBundle(path)) {
      const judgement = await judgeBundle(openBundleDirectory(path), { suites: ['default'] });
      return printJudgement(judgement, text('format') ?? 'text', terminal);
    }
    const { findings, catalog } = await judge(directorySource(path), RULES);
    const failed = findings.some(({ severity }) => severity === 'error');
    if (text('format') === 'json') {
      await terminal.out(`${JSON.stringify({ verdict: failed ? 'fail' : 'pass', findings }, null, 2)}\n`);
      return failed ? 1 : 0;
    }
    for (const finding of findings) await terminal.out(findingText(finding));
    const { packages, bundles } = catalog.blobs;
    const seen = `${packages.length} packages, ${bundles.length} bundles`;
    terminal.err(`${failed ? 'FAIL' : 'PASS'}: ${countText(findings)} in ${seen}\n`);
    return failed ? 1 : 0;
  },
};
