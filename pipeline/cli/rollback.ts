import { resolve } from 'node:path';
import { openRepository } from '../git/repository.ts';
import { findingText } from '../report/text.ts';
import { type Rollback, rollback } from '../stages/rollback.ts';
import type { Command } from './command.ts';
import { type ExitCode, searchPath, type Terminal } from './terminal.ts';

export const command: Command = {
  words: 'rollback',
  summary: 'Propose a catalog as an earlier commit had it: a branch with one new commit.',
  operands: 'CATALOG',
  options: {
    to: { value: 'COMMIT', description: 'the commit whose state of the catalog is wanted back' },
    repo: { value: 'DIR', description: 'the repository (default: this directory)' },
    base: { value: 'REF', description: 'the branch as it is now (default: HEAD)' },
    'accept-stranding': { description: 'go on though installed versions are left without a way on' },
    json: { description: 'print JSON' },
  },
  details: [
    'The way back is a way forward: the branch gets a new commit, which is published like every other one, and the',
    'fence only goes up. All rules are run from the state that is now to the one that is wanted: who installed what',
    'came since may be stranded. They are listed, and --accept-stranding is needed.',
    'The commit is written to the branch portolan/rollback-CATALOG-COMMIT, for a pull request; nothing is checked out.',
  ].join('\n'),
  examples: ['portolan rollback v4.20 --to 1a2b3c4d', 'git push origin portolan/rollback-v4.20-1a2b3c4d5e6f'],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const repository = await openRepository(directory, searchPath(terminal));
    try {
      const outcome = await rollback(repository, {
        directory,
        catalog: invocation.operands[0] ?? '',
        to: invocation.needed('to'),
        base: invocation.text('base') ?? 'HEAD',
        acceptStranding: invocation.flag('accept-stranding'),
        now: terminal.now(),
      });
      if (invocation.flag('json')) await terminal.out(`${JSON.stringify(outcome, null, 2)}\n`);
      else await print(outcome, terminal);
      return exitOf(outcome);
    } finally {
      await repository.close();
    }
  },
};

function exitOf({ kind }: Rollback): ExitCode {
  return kind === 'refused' ? 1 : 0;
}

async function print(outcome: Rollback, { out, err }: Terminal): Promise<void> {
  if (outcome.kind === 'same') return out('nothing to do: the catalog is as it was then\n');
  for (const finding of outcome.findings) err(findingText(finding));
  if (outcome.kind === 'refused') {
    const hint = outcome.stranding
      ? 'installed versions would be stranded: --accept-stranding'
      : 'it has errors';
    return err(`FAIL: nothing was proposed: ${hint}\n`);
  }
  await out(
    `proposed ${outcome.commit}\n  branch  ${outcome.branch}\n  next    git push origin ${outcome.branch}\n`,
  );
}
