import { resolve } from 'node:path';
import { openRepository } from '../git/repository.ts';
import type { Proposed } from '../github/proposal.ts';
import { readDefaultBranch } from '../github/pull-request.ts';
import { findingText, plain } from '../report/text.ts';
import { type Restored, type Rollback, rollback } from '../stages/rollback.ts';
import { proposeRollback } from '../stages/rollback-proposal.ts';
import type { Command, Invocation } from './command.ts';
import { namesGitHub, openOnGitHub } from './github.ts';
import { type ExitCode, searchPath, type Terminal } from './terminal.ts';

export const command: Command = {
  words: 'rollback',
  summary: 'Propose a catalog as an earlier commit had it: a pull request, or a branch with one new commit.',
  operands: 'CATALOG',
  options: {
    to: { value: 'COMMIT', description: 'the commit whose state of the catalog is wanted back' },
    repo: {
      value: 'DIR|OWNER/NAME',
      description:
        'the repository (default: this directory), or one on GitHub, where a pull request is opened',
    },
    base: { value: 'REF', description: 'the branch as it is now (default: HEAD, or the default branch)' },
    'accept-stranding': { description: 'go on though installed versions are left without a way on' },
    json: { description: 'print JSON' },
  },
  details: [
    'The way back is a way forward: the branch gets a new commit, which is published like every other one, and the',
    'fence only goes up. All rules are run from the state that is now to the one that is wanted: who installed what',
    'came since may be stranded. They are listed, and --accept-stranding is needed.',
    'With OWNER/NAME the change is made on the newest commit of the branch there, and is one pull request however often',
    'it is asked for; GITHUB_TOKEN (or GH_TOKEN) needs contents: write and pull-requests: write. With a directory it is',
    'written to the branch portolan/rollback-CATALOG-COMMIT; nothing is checked out.',
  ].join('\n'),
  examples: [
    'portolan rollback v4.20 --to 1a2b3c4d --repo my-org/catalogs --accept-stranding',
    'portolan rollback v4.20 --to 1a2b3c4d',
    'git push origin portolan/rollback-v4.20-1a2b3c4d5e6f',
  ],
  run: (invocation, terminal) => {
    const place = invocation.text('repo') ?? '.';
    return namesGitHub(place, terminal)
      ? onGitHub(invocation, terminal, place)
      : here(invocation, terminal, place);
  },
};

function requestOf(invocation: Invocation, { now }: Terminal) {
  return {
    catalog: invocation.operands[0] ?? '',
    to: invocation.needed('to'),
    acceptStranding: invocation.flag('accept-stranding'),
    now: now(),
  };
}

async function here(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  const directory = resolve(terminal.directory, place);
  const repository = await openRepository(directory, searchPath(terminal));
  try {
    const base = invocation.text('base') ?? 'HEAD';
    const outcome = await rollback(repository, { ...requestOf(invocation, terminal), directory, base });
    if (invocation.flag('json')) await terminal.out(`${JSON.stringify(outcome, null, 2)}\n`);
    else await print(outcome, terminal);
    return exitOf(outcome);
  } finally {
    await repository.close();
  }
}

async function onGitHub(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  const opened = openOnGitHub(place, terminal);
  try {
    const base = invocation.text('base') ?? (await readDefaultBranch(opened.github, opened.name));
    const { restored, proposed } = await proposeRollback(opened, {
      ...requestOf(invocation, terminal),
      base,
    });
    if (invocation.flag('json')) {
      const { kind, findings } = { findings: [], ...restored };
      await terminal.out(`${JSON.stringify({ kind, findings, pullRequest: proposed }, null, 2)}\n`);
    } else await printProposed(restored, proposed, terminal);
    return proposed.kind === 'taken' ? 1 : exitOf(restored);
  } finally {
    await opened.repository.close();
  }
}

function exitOf({ kind }: Rollback | Restored): ExitCode {
  return kind === 'refused' ? 1 : 0;
}

/** @returns whether there is something to propose; otherwise it was said why not */
async function printFound(outcome: Rollback | Restored, { out, err }: Terminal): Promise<boolean> {
  if (outcome.kind === 'same') {
    await out('nothing to do: the catalog is as it was then\n');
    return false;
  }
  for (const finding of outcome.findings) err(findingText(finding));
  if (outcome.kind !== 'refused') return true;
  const hint = outcome.stranding
    ? 'installed versions would be stranded: --accept-stranding'
    : 'it has errors';
  err(`FAIL: nothing was proposed: ${hint}\n`);
  return false;
}

async function print(outcome: Rollback, terminal: Terminal): Promise<void> {
  if (!(await printFound(outcome, terminal)) || outcome.kind !== 'proposed') return;
  const { commit, branch } = outcome;
  await terminal.out(`proposed ${commit}\n  branch  ${branch}\n  next    git push origin ${branch}\n`);
}

async function printProposed(restored: Restored, proposed: Proposed, terminal: Terminal): Promise<void> {
  const { kind, number, url, branch } = proposed;
  const isSomething = await printFound(restored, terminal);
  if (kind === 'taken') {
    terminal.err(`the branch ${branch} has commits of others: nothing was changed there\n`);
  }
  if (number === undefined || !(isSomething || kind === 'closed')) return;
  await terminal.out(`${kind} pull request ${number}\n  ${plain(url ?? '')}\n`);
}
