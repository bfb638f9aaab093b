import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type MonitoredRepository,
  monitorRepository,
  type RemovedEntry,
} from '../../check/monitor/monitor.ts';
import { entriesIn, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { type GitSettings, networkOf, type Reach, runGit } from '../../git/process.ts';
import { openRepository } from '../../git/repository.ts';
import { monitorSite } from '../../report/monitor-site.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { amountText, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, countOption } from '../command.ts';
import { progressLine } from '../progress-line.ts';
import { rehearsalPolicy } from '../repository/rehearsal-policy.ts';

/** Merges that are checked by default. */
const MERGES = 200;
/** Where the clones are by default. */
const CLONES = 'clones';

export const command: Command = {
  words: 'monitor',
  operands: 'LIST',
  options: {
    out: { short: 'o', value: 'DIR', description: 'directory of the site (default: monitor)' },
    clones: {
      value: 'DIR',
      description: `directory of the clones, OWNER/NAME; what is missing is cloned (default: ${CLONES})`,
    },
    offline: { description: 'take the clones as they are, and do not contact anything' },
    last: { value: 'N', description: `number of merges to check, the latest (default: ${MERGES})` },
    url: { value: 'URL', description: 'where the site will be, for the links in its feed' },
  },
  details: [
    'Checks the latest merges of public repositories, and writes a static site: which merges took the upgrade path from',
    'installed versions, who is stuck since when, the fix as a patch, and how long repairs took. LIST is a text file with a',
    'repository in each line, OWNER/NAME [BRANCH]. The line "! OWNER/NAME COMMIT [PACKAGE]" removes a wrong entry. Portolan',
    'clones and fetches with git, and posts nothing. The exit code is 2 if a repository could not be checked.',
  ].join('\n'),
  examples: [
    'portolan monitor repositories.txt --out site',
    'portolan monitor repositories.txt --offline --last 50',
  ],
  run: async (invocation, terminal) => {
    const [file = ''] = invocation.operands;
    const { repositories, removed } = readMonitorList(readText(resolve(terminal.directory, file)), file);
    const clones = resolve(terminal.directory, invocation.text('clones') ?? CLONES);
    const out = resolve(terminal.directory, invocation.text('out') ?? 'monitor');
    const count = countOption(command, invocation, 'last') ?? MERGES;
    const checked: MonitoredRepository[] = [];
    const failed: { name: string; why: string }[] = [];
    for (const listed of repositories) {
      const clone = join(clones, listed.name);
      try {
        if (!invocation.flag('offline'))
          await updateClone(clone, {
            url: `https://github.com/${listed.name}.git`,
            branch: listed.branch,
            settings: searchPath(terminal),
            reach: { environment: networkOf(terminal.environment) },
          });
        checked.push(await monitorClone({ ...listed, clone, count, removed }, terminal));
      } catch (error) {
        if (!(error instanceof PipelineError)) throw error;
        terminal.err(`${plainText(listed.name)}: ${plainText(error.message)}\n`);
        failed.push({ name: listed.name, why: error.message });
      }
    }
    const built = terminal.now().toISOString();
    const site = monitorSite({ built, repositories: checked, failed }, invocation.text('url'));
    const changed = writeSite(out, site);
    const entries = checked.flatMap((one) => one.entries);
    const stuck = entries.filter(({ state }) => state === 'stuck');
    const repositoriesText = checked.length === 1 ? '1 repository' : `${checked.length} repositories`;
    await terminal.out(
      `${repositoriesText}: ${amountText(entries.length, 'merge')} took an upgrade path, ${stuck.length} left somebody stuck\n`,
    );
    terminal.err(`site: ${join(out, 'index.html')} (${amountText(changed, 'file')} changed)\n`);
    return failed.length > 0 ? 2 : 0;
  },
};

/** Writes each folder of the site. In those below `out`, nothing of an earlier run stays. @returns how many files changed */
function writeSite(out: string, site: ReadonlyMap<string, string>): number {
  const folders = new Map<string, Map<string, string>>();
  for (const [path, text] of site) {
    const folder = dirname(path);
    folders.set(folder, (folders.get(folder) ?? new Map()).set(basename(path), text));
  }
  let changed = 0;
  for (const [folder, files] of folders) {
    const at = join(out, folder);
    // The folder `out` itself may have files that are not of the site: none of them is removed.
    const known = folder === '.' || !existsSync(at) ? [] : namesIn(at);
    const { written, removed } = writeFiles(at, files, known);
    changed += written.length + removed.length;
  }
  return changed;
}

/** The names of the files in a folder. */
function namesIn(folder: string): string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

interface Monitoring extends Listed {
  /** Path of the clone. */
  readonly clone: string;
  /** How many of the latest merges are checked. */
  readonly count: number;
  readonly removed: Parameters<typeof monitorRepository>[1]['removed'];
}

/** Monitors one clone, with a line of progress. */
async function monitorClone(
  { name, branch, clone, count, removed }: Monitoring,
  terminal: Terminal,
): Promise<MonitoredRepository> {
  if (!existsSync(clone)) throw new PipelineError('not-found', `there is no clone in ${clone}`);
  const repository = await openRepository(clone, searchPath(terminal));
  const { tell, clear } = progressLine(terminal);
  try {
    const head = await firstOf(headsOf(branch), (one) => repository.resolve([one]));
    // Without admins: a monitor looks at clusters, not at approvals.
    const policy = await rehearsalPolicy(repository, head, []);
    const today = terminal.now().toISOString().slice(0, 10);
    return await monitorRepository(repository, {
      ...{ name, head, count, policy, today, removed },
      progress: ({ done, merges }) => tell(() => `${name}: ${done} of ${merges} merges checked`),
    });
  } finally {
    clear();
    await repository.close();
  }
}

/** The first revision that is there; the last one if none is: what uses it then throws. */
async function firstOf(heads: readonly string[], find: (head: string) => Promise<unknown>): Promise<string> {
  for (const head of heads.slice(0, -1)) {
    try {
      await find(head);
      return head;
    } catch (error) {
      if (!(error instanceof PipelineError && error.code === 'not-found')) throw error;
    }
  }
  return heads.at(-1) ?? 'HEAD';
}

// The list of a monitor: a repository in each line, and the entries that people removed.

interface Listed {
  /** `OWNER/NAME`. */
  readonly name: string;
  readonly branch?: string;
}

interface MonitorList {
  readonly repositories: readonly Listed[];
  /** The lines with `!`: what the monitor no longer shows. */
  readonly removed: readonly RemovedEntry[];
}

/** `OWNER/NAME` as GitHub allows it, and neither an option of git nor a path out of the folder of clones. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;
/** Nothing that git would take for an option or for a refspec. */
const BRANCH = /^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/;
/** A commit ID, or its beginning: of seven digits at least, as git abbreviates it. */
const COMMIT = /^[0-9a-f]{7,64}$/;

/** Reads the list of repositories to monitor. @throws PipelineError `usage`, with the line that is wrong */
export function readMonitorList(text: string, file: string): MonitorList {
  const repositories: Listed[] = [];
  const removed: RemovedEntry[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    // A `#` begins a comment, but not within a word.
    const words = line
      .replace(/(?:^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    const isRemoval = words[0] === '!';
    const [first = '', ...rest] = isRemoval ? words.slice(1) : words;
    // A repository needs no branch: `main` stands for one that is right.
    const isWhole = isRemoval ? COMMIT.test(rest[0] ?? '') : BRANCH.test(rest[0] ?? 'main');
    if (!NAME.test(first) || !isWhole || rest.length > (isRemoval ? 2 : 1))
      throw new PipelineError(
        'usage',
        `${file}:${i + 1}: expected OWNER/NAME [BRANCH] or ! OWNER/NAME COMMIT [PACKAGE]`,
      );
    const [second = '', third] = rest;
    if (isRemoval)
      removed.push({ repository: first, commit: second, ...(third === undefined ? {} : { package: third }) });
    else repositories.push({ name: first, ...(second === '' ? {} : { branch: second }) });
  }
  return { repositories, removed };
}

// The clones of a monitor: bare, and brought up to date with git alone.

/** The branch of a clone that follows the remote's default branch. */
const DEFAULT = 'portolan-monitor';

interface Cloning {
  readonly url: string;
  /** The branch to follow; without it, the remote's default one. */
  readonly branch?: string | undefined;
  readonly settings: GitSettings;
  readonly reach: Reach;
}

/** Brings a clone up to date; one that is not there is made. @throws PipelineError `git` */
export async function updateClone(clone: string, { url, branch, settings, reach }: Cloning): Promise<void> {
  if (!existsSync(clone)) {
    mkdirSync(dirname(clone), { recursive: true });
    await runGit({ settings, directory: dirname(clone) }, ['init', '--quiet', '--bare', clone]);
  }
  // `+`: a branch whose history was rewritten is followed, too.
  const refs = `+${branch ?? 'HEAD'}:refs/heads/${branch ?? DEFAULT}`;
  await runGit({ settings, directory: clone, bare: true, reach }, [
    'fetch',
    '--quiet',
    '--no-tags',
    url,
    refs,
  ]);
}

/** Where a branch may be in a clone, in the order of looking: one that somebody else made has other names for it. */
function headsOf(branch: string | undefined): readonly string[] {
  return branch === undefined ? [`refs/heads/${DEFAULT}`, 'HEAD'] : [branch, `refs/remotes/origin/${branch}`];
}
