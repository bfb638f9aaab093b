import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ADVISORIES } from '../../policy/layout.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, linesText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { type AdvisedClone, dayOf, inClone, REPOSITORY_OPTIONS } from './advisory.ts';
import { type AdvisoryState, advisoryStates } from './advisory-states.ts';

export const command: Command = {
  words: 'advisory list',
  operands: '',
  options: { ...REPOSITORY_OPTIONS, json: { description: 'print the list as JSON' } },
  details: [
    'Lists the advisories of a commit, and for each catalog whether its advisory is applied, not applied, or lost: it was',
    'applied in an earlier commit, and a later one undid it. The exit code is 1 if any advisory is not applied everywhere.',
  ].join('\n'),
  examples: ['portolan advisory list', 'portolan advisory list --base origin/main --json'],
  run: (invocation, terminal) =>
    inClone({ repo: invocation.text('repo'), base: invocation.text('base') }, terminal, (clone) =>
      list(invocation, terminal, clone),
    ),
};

async function list(invocation: Invocation, terminal: Terminal, clone: AdvisedClone): Promise<ExitCode> {
  const { states, findings } = await advisoryStates(clone.repository, { ...clone, today: dayOf(terminal) });
  for (const finding of findings) terminal.err(findingText(finding));
  if (invocation.flag('json')) {
    const document = { apiVersion: 'portolan/v1alpha1', kind: 'AdvisoryList', advisories: states };
    await terminal.out(`${JSON.stringify(document, null, 2)}\n`);
  } else await terminal.out(linesText(states.flatMap(linesOf)));
  if (states.length + findings.length === 0)
    terminal.err('no advisories in the commit: new files in advisories/ count once they are committed\n');
  else
    warnOfUncommitted(
      clone,
      [...states.map(({ path }) => path), ...findings.map(({ location }) => location.file)],
      terminal,
    );
  const isOpen = states.some(({ catalogs }) => catalogs.some(({ state }) => OPEN.has(state)));
  return isOpen || findings.length > 0 ? 1 : 0;
}

/** Names the advisories of the work tree that the commit does not have: the list is of the commit. */
function warnOfUncommitted({ directory }: AdvisedClone, listed: readonly string[], { err }: Terminal): void {
  const folder = join(directory, ADVISORIES);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const paths = files.filter((name) => name.endsWith('.yaml')).map((name) => `${ADVISORIES}/${name}`);
  const missing = paths.filter((path) => !listed.includes(path)).sort();
  for (const path of missing) err(linesText([`warning: ${path} is not in the commit: commit it to list it`]));
}

const OPEN: ReadonlySet<string> = new Set(['not applied', 'lost', 'refused']);

function linesOf({ id, action, package: name, versions, catalogs }: AdvisoryState): string[] {
  const rows = catalogs.map(({ catalog, state, why, withoutUpgradePath }) => {
    const rest =
      withoutUpgradePath.length === 0 ? '' : `; without an upgrade path: ${withoutUpgradePath.join(', ')}`;
    return `  ${catalog}: ${state}${why === undefined ? '' : ` (${why})`}${rest}`;
  });
  return [`${id}: ${action} ${name} ${versions.join(', ')}`, ...rows];
}
