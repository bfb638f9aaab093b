/**
 * A repository that is somewhere else: of its history and files only what is asked for
 * comes here, into a git directory of our own that has no configuration and no remote.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineError } from '../error.ts';
import { temporaryFolder } from '../write.ts';
import { BatchProcess } from './cat-file.ts';
import { checkObjectIds, isObjectId, ObjectReader } from './objects.ts';
import { type GitRemote, type GitSettings, runGit } from './process.ts';
import type { Repository } from './repository.ts';

/** Objects that are asked for in one request. */
const TOGETHER = 2000;

/** As git writes that nothing is to be cut off. */
const WHOLE_HISTORY = '--depth=2147483647';

/** How long one request may take, in ms. */
const TIMEOUT = 60_000;

/**
 * Opens a repository over HTTP. Nothing is asked for yet.
 *
 * @throws PipelineError `io` when there is no room for it
 */
export function openRemote(remote: GitRemote, settings: GitSettings): Repository {
  const scratch = temporaryFolder('git');
  for (const folder of ['objects/info', 'objects/pack', 'refs'])
    mkdirSync(join(scratch, folder), { recursive: true });
  writeFileSync(join(scratch, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(scratch, 'config'), '[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n');
  const asking = { ...settings, remote };
  const run = { settings: asking, directory: scratch, bare: true };
  // One after the other: git locks the place where it notes at which commits the history ends.
  let last: Promise<void> = Promise.resolve();
  const inTurn = (fetching: () => Promise<void>): Promise<void> => {
    const next = last.then(fetching);
    last = next.catch(() => undefined);
    return next;
  };
  // Commits that are here with their trees.
  const brought = new Set<string>();
  // Commits that are here with all that led to them.
  const whole = new Set<string>();
  const objects = new ObjectReader(new BatchProcess(run), (ids) => inTurn(() => fetchObjects(run, ids)));
  return {
    settings: asking,
    objects,
    scratch,
    shallow: true,
    resolve: (revisions) => Promise.all(revisions.map((id) => commitId(run, objects, id))),
    bring: (commits) =>
      inTurn(async () => {
        const wanted = commits.filter((id) => !brought.has(id) && !whole.has(id));
        if (wanted.length === 0) return;
        // A commit without its history would cut off that of others; its trees come when they are read.
        if (whole.size > 0) await fetch(run, [WHOLE_HISTORY, '--filter=tree:0'], wanted);
        else await fetchWithoutHistory(run, wanted, brought);
        for (const id of wanted) (whole.size > 0 ? whole : brought).add(id);
      }),
    bringHistory: (commits) =>
      inTurn(async () => {
        const wanted = commits.filter((id) => !whole.has(id));
        if (wanted.length === 0) return;
        await fetch(run, [WHOLE_HISTORY, '--filter=tree:0'], wanted);
        for (const id of wanted) whole.add(id);
      }),
    bringTrees: async (trees, levels) => {
      const known = await Promise.all(trees.map((id) => objects.info(id)));
      const wanted = trees.filter((_, i) => !known[i]);
      await inTurn(() => fetchLevels(run, wanted, levels));
    },
    close: async () => {
      await objects.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

interface Run {
  readonly settings: GitSettings;
  readonly directory: string;
  readonly bare: boolean;
}

/**
 * Fetches commits from the remote, with their folders, but neither files nor parents.
 *
 * @param there commits that are here: what they share with those that are wanted does not come again
 */
async function fetchWithoutHistory(
  run: Run,
  commits: readonly string[],
  there: ReadonlySet<string>,
): Promise<void> {
  const tips = [...there].map((id) => `--negotiation-tip=${id}`);
  await fetch(run, ['--depth=1', '--filter=blob:none', ...tips], commits);
}

/**
 * These very objects: of a commit, neither its tree nor its parents.
 *
 * @param levels of folders, of a tree; without, nothing that is in it
 */
async function fetchObjects(run: Run, ids: readonly string[], levels = 0): Promise<void> {
  for (let i = 0; i < ids.length; i += TOGETHER)
    await fetch(run, [`--filter=tree:${levels}`], ids.slice(i, i + TOGETHER));
}

/** Large hosts refuse levels: then the trees alone come, and what is in them when it is read. */
async function fetchLevels(run: Run, trees: readonly string[], levels: number): Promise<void> {
  try {
    await fetchObjects(run, trees, levels);
  } catch (error) {
    if (!(error instanceof PipelineError) || !/tree filter allows max depth/.test(error.message)) throw error;
    await fetchObjects(run, trees);
  }
}

const OPTIONS = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-gc'];

/** Fetches objects from the remote by their ids. */
async function fetch(run: Run, options: readonly string[], ids: readonly string[]): Promise<void> {
  checkObjectIds(ids);
  const parameters = ['fetch', ...OPTIONS, ...options, '--stdin', 'origin'];
  const input = ids.map((id) => `${id}\n`).join('');
  try {
    await runGit({ ...run, remote: true, input, timeout: TIMEOUT }, parameters);
  } catch (error) {
    throw error instanceof PipelineError ? fetchError(error, ids) : error;
  }
}

/** The error for a fetch that failed, by what git says of it. */
function fetchError(error: PipelineError, ids: readonly string[]): PipelineError {
  const options = { cause: error };
  if (/not our ref|remote error: upload-pack/.test(error.message)) {
    return new PipelineError('not-found', `the repository does not serve ${ids[0]}`, options);
  }
  if (/returned error: 40[13]|Authentication failed|could not read Username/.test(error.message)) {
    return new PipelineError('denied', `no permission to read the repository: ${error.message}`, options);
  }
  return new PipelineError('unreachable', error.message, { ...options, retryable: true });
}

/** A commit by its id, or by the beginning of the id of one whose history was brought. */
async function commitId(run: Run, objects: ObjectReader, text: string): Promise<string> {
  const id = /^[0-9a-f]{7,39}$/.test(text) ? await wholeId(run, text) : text;
  if (isObjectId(id) && (await objects.info(id))?.type === 'commit') return id;
  throw new PipelineError('not-found', `${JSON.stringify(text)} is not a fetched commit`, {
    hint: 'use a commit ID',
  });
}

/** A beginning that stands for no commit, or for several, stays as it is, and is refused as unknown. */
async function wholeId(run: Run, beginning: string): Promise<string> {
  const parameters = ['rev-parse', '--verify', '--quiet', `${beginning}^{commit}`];
  const { code, output } = await runGit({ ...run, accept: [0, 1, 128] }, parameters);
  return code === 0 ? output.toString('utf8').trim() : beginning;
}
