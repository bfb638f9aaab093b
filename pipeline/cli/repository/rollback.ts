import { resolve } from 'node:path';
import { shellWord } from '../../../catalog/names.ts';
import { type Restored, type Rollback, rollBackCatalog } from '../../check/proposals/rollback.ts';
import { withRepository } from '../../git/repository.ts';
import type { Proposed } from '../../github/proposals/proposal.ts';
import { proposeRollback } from '../../github/proposals/rollback.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { findingText, plainText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { namesGitHub, onGitHub } from '../on-github.ts';

export const command: Command = {
  words: 'rollback',
  operands: 'CATALOG',
  options: {
    to: { value: 'COMMIT', description: 'commit to restore the catalog from', required: true },
    repo: {
      value: 'DIR|OWNER/NAME',
      description:
        'path of the repository (default: current directory), or a GitHub repository, to open a pull request',
    },
    base: { value: 'REF', description: 'branch to change (default: HEAD, or the default branch on GitHub)' },
    'accept-stranding': { description: 'continue even if installed versions lose their upgrade path' },
    json: { description: 'print the result as JSON' },
  },
  details: [
    'Creates a new commit with the old content, which is published like any other commit. Portolan runs all rules on the',
    'change from the current to the restored state. Clusters that installed a version added in between may be stranded:',
    'Portolan lists these versions and requires --accept-stranding.',
    '',
    'With --repo OWNER/NAME, Portolan opens a pull request against the branch on GitHub, or updates the one that is open.',
    'GITHUB_TOKEN (or GH_TOKEN) needs the permissions contents: write and pull-requests: write. With a directory, Portolan',
    'writes the commit to the branch portolan/rollback-CATALOG-COMMIT and does not check anything out.',
  ].join('\n'),
  examples: [
    'portolan rollback v4.20 --to 1a2b3c4d --repo my-org/catalogs --accept-stranding',
    'portolan rollback v4.20 --to 1a2b3c4d',
    'git push origin portolan/rollback-v4.20-1a2b3c4d5e6f',
  ],
  run: (invocation, terminal) => {
    const place = invocation.text('repo') ?? '.';
    return namesGitHub(place, terminal)
      ? rollBackOnGitHub(invocation, terminal, place)
      : rollBackInClone(invocation, terminal, place);
  },
};

/** What is rolled back, to which commit, and what may come of it. */
function requestOf(invocation: Invocation, { now }: Terminal) {
  return {
    catalog: invocation.operands[0] ?? '',
    to: invocation.needed('to'),
    acceptStranding: invocation.flag('accept-stranding'),
    now: now(),
  };
}

/** Rolls back in a clone: makes a local branch. */
async function rollBackInClone(invocation: Invocation, terminal: Terminal, place: string): Promise<ExitCode> {
  const directory = resolve(terminal.directory, place);
  return withRepository(directory, searchPath(terminal), async (repository) => {
    const base = invocation.text('base') ?? 'HEAD';
    const outcome = await rollBackCatalog(repository, {
      ...requestOf(invocation, terminal),
      directory,
      base,
    });
    if (invocation.flag('json')) await terminal.out(`${JSON.stringify(outcome, null, 2)}\n`);
    else await print(outcome, terminal);
    return exitOf(outcome);
  });
}

/** Rolls back on GitHub: opens a pull request. */
async function rollBackOnGitHub(
  invocation: Invocation,
  terminal: Terminal,
  place: string,
): Promise<ExitCode> {
  return onGitHub(place, invocation, terminal, async (opened, base) => {
    const { restored, proposed } = await proposeRollback(opened, {
      ...requestOf(invocation, terminal),
      base,
    });
    if (invocation.flag('json')) {
      // A catalog that has not changed has no findings.
      const { kind, findings } = { findings: [], ...restored };
      await terminal.out(`${JSON.stringify({ kind, findings, pullRequest: proposed }, null, 2)}\n`);
    } else await printProposed(restored, proposed, terminal);
    return proposed.kind === 'taken' ? 1 : exitOf(restored);
  });
}

/** 1 for a rollback that is refused; 0 also where there is nothing to do. */
function exitOf({ kind }: Rollback | Restored): ExitCode {
  return kind === 'refused' ? 1 : 0;
}

/** Prints the findings about a rollback. @returns whether there is something to propose; otherwise it was said why not */
async function printFound(outcome: Rollback | Restored, { out, err }: Terminal): Promise<boolean> {
  if (outcome.kind === 'same') {
    await out('nothing to do: the catalog has not changed since that commit\n');
    return false;
  }
  for (const finding of outcome.findings) err(findingText(finding));
  if (outcome.kind !== 'refused') return true;
  const hint = outcome.stranding
    ? 'installed versions would be stranded (to continue, use --accept-stranding)'
    : 'the restored catalog has errors';
  err(`FAIL: no change proposed: ${hint}\n`);
  return false;
}

/** Prints what was found, and the command that pushes the proposed branch. */
async function print(outcome: Rollback, terminal: Terminal): Promise<void> {
  if (!(await printFound(outcome, terminal)) || outcome.kind !== 'proposed') return;
  const { commit, branch } = outcome;
  await terminal.out(
    `proposed ${commit}\n  branch  ${branch}\n  next    git push origin ${shellWord(branch)}\n`,
  );
}

/** Prints what was found, and the pull request that proposes it. */
async function printProposed(restored: Restored, proposed: Proposed, terminal: Terminal): Promise<void> {
  const { kind, number, url, branch } = proposed;
  const isSomething = await printFound(restored, terminal);
  if (kind === 'taken') {
    terminal.err(`the branch ${branch} has commits by others and was not changed\n`);
  }
  // If nothing is proposed, an open pull request may have been closed.
  const isTouched = isSomething || kind === 'closed';
  if (number === undefined || !isTouched) return;
  await terminal.out(`${kind} pull request ${number}\n  ${plainText(url ?? '')}\n`);
}
