/** Real merges of a community's catalogs, and webhooks of them as bad as they get. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import { additions } from '../../bench/one-bundle.ts';
import type { Current } from '../../pipeline/publish/documents.ts';
import { folder } from './folder.ts';
import { generator } from './generator.ts';
import type { RealRegistry } from './real-registry.ts';
import { run } from './tools.ts';

const HISTORY = join(process.env['PORTOLAN_GOLDEN'] ?? '../shared/golden', '../data/pr-history.bundle');

/** Whether the recorded history is there. */
export const hasHistory: boolean = existsSync(HISTORY);

export interface History {
  /** A bare repository. */
  readonly directory: string;
  /** The oldest first. */
  readonly commits: readonly string[];
}

/** The last merges of the history that changed catalogs, each with a policy that publishes every catalog. */
export function historyRepository(host: string, merges: number): History {
  const directory = join(folder(), 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', HISTORY, directory]);
  const git = gitIn(directory);
  git(['config', 'uploadpack.allowFilter', 'true']);
  const blob = git(['hash-object', '-w', '--stdin'], policyOf(host));
  const limit = `--max-count=${merges}`;
  const old = git(['rev-list', '--first-parent', limit, 'HEAD', '--', 'catalogs']).split('\n');
  const commits: string[] = [];
  for (const commit of old.reverse()) {
    git(['read-tree', commit]);
    git(['update-index', '--add', '--cacheinfo', `100644,${blob},.github/portolan.yaml`]);
    const parents = commits.slice(-1).flatMap((parent) => ['-p', parent]);
    commits.push(git(['commit-tree', git(['write-tree']), ...parents, '-m', commit]));
  }
  return { directory, commits };
}

/**
 * Merges of one bundle each into one large catalog.
 *
 * @param packages a folder with a folder for each package
 */
export function largeRepository(host: string, packages: string, merges: number): History {
  const directory = join(folder(), 'catalogs');
  const root = join(directory, 'catalogs/large');
  mkdirSync(join(directory, '.github'), { recursive: true });
  mkdirSync(dirname(root), { recursive: true });
  execFileSync('cp', ['-r', packages, root]);
  writeFileSync(join(directory, '.github/portolan.yaml'), policyOf(host));
  const git = gitIn(directory);
  git(['init', '--quiet', '--initial-branch=trunk']);
  git(['config', 'uploadpack.allowFilter', 'true']);
  const commit = (subject: string): string => {
    git(['add', '.']);
    git(['commit', '--quiet', '-m', subject]);
    return git(['rev-parse', 'HEAD']);
  };
  const commits = [commit('first')];
  const parts = Array.from({ length: merges - 1 }, (_, i) => (i + 0.5) / (merges - 1));
  for (const { path, text } of additions(root, parts)) {
    writeFileSync(path, text);
    commits.push(commit(relative(root, path)));
  }
  return { directory: join(directory, '.git'), commits };
}

function policyOf(host: string): string {
  const image = `{image: '${host}/sea/catalog:{catalog}', mirrorTo: mirror.example.com/olm}`;
  const catalogs = `publish: {catalogs: {'*': ${image}}}\n`;
  return `apiVersion: portolan/v1alpha1\nkind: Portolan\n${catalogs}`;
}

/** Runs git on a repository, with an index of its own. */
function gitIn(directory: string): (parameters: readonly string[], input?: string) => string {
  const environment = { ...process.env, GIT_INDEX_FILE: join(dirname(directory), 'portolan-index') };
  for (const role of ['AUTHOR', 'COMMITTER']) {
    Object.assign(environment, { [`GIT_${role}_NAME`]: 'anna', [`GIT_${role}_EMAIL`]: 'anna@example.com' });
  }
  return (parameters, input = '') =>
    execFileSync('git', ['-C', directory, ...parameters], { env: environment, input })
      .toString()
      .trim();
}

/** Moves the branch, as a merge does. */
export function moveBranch({ directory }: History, commit: string): void {
  execFileSync('git', ['-C', directory, 'update-ref', 'refs/heads/main', commit]);
}

export interface Burst {
  /** Where the branch is moved to. */
  readonly tip: string;
  /** How many merges lie behind. */
  readonly done: number;
  readonly size: number;
  /** Commits of pushes in the order in which they come: shuffled, some twice, some of an earlier burst. */
  readonly deliveries: readonly string[];
}

/** @param size merges at once; 1 and then 1 to 40 by chance when left out */
export function* bursts(commits: readonly string[], size?: number): Generator<Burst> {
  const random = generator(1);
  let late: string[] = [];
  for (let done = 0; done < commits.length; ) {
    const wanted = size ?? 1 + Math.floor(random() * 40);
    const burst = Math.min(commits.length - done, done === 0 ? 1 : wanted);
    const fresh = commits.slice(done, done + burst);
    done += burst;
    const held = fresh.slice(0, -1).filter(() => random() < 0.2);
    const all = [...fresh, ...fresh.filter(() => random() < 0.5), ...late];
    late = held;
    const deliveries = all.filter((commit) => !held.includes(commit)).sort(() => random() - 0.5);
    yield { tip: commits[done - 1] ?? '', done, size: burst, deliveries };
  }
}

/** What is published is the content of the branch's newest commit, under a tag that skopeo reads. */
export async function expectPublished(
  { directory }: History,
  registry: RealRegistry,
  current: readonly Current[],
): Promise<void> {
  for (const { catalog, image, commit, digest } of current) {
    const raw = await run('skopeo', 'inspect', '--raw', ...registry.skopeo, `docker://${image}`);
    const found = execFileSync('sha256sum', { input: raw }).toString().slice(0, 64);
    expect(`sha256:${found}`, catalog).toBe(digest);
    const places = [`${commit}:catalogs/${catalog}`, `main:catalogs/${catalog}`];
    const trees = execFileSync('git', ['-C', directory, 'rev-parse', ...places])
      .toString()
      .trim()
      .split('\n');
    expect(trees[0], catalog).toBe(trees[1]);
  }
}

/** The figure that so many of a hundred do not exceed. */
export function percentile(figures: readonly number[], hundredths: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * hundredths) / 100) - 1] ?? 0;
}
