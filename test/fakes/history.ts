/** Real merges of a community's catalogs, and webhooks of them as bad as they get. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
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
  const environment = { ...process.env, GIT_INDEX_FILE: join(directory, 'portolan-index') };
  for (const role of ['AUTHOR', 'COMMITTER']) {
    Object.assign(environment, { [`GIT_${role}_NAME`]: 'anna', [`GIT_${role}_EMAIL`]: 'anna@example.com' });
  }
  const git = (parameters: readonly string[], input = ''): string =>
    execFileSync('git', ['-C', directory, ...parameters], { env: environment, input })
      .toString()
      .trim();
  const policy = [
    'apiVersion: portolan/v1alpha1',
    'kind: Portolan',
    'publish:',
    '  catalogs:',
    `    'v*': {image: '${host}/sea/catalog:{catalog}', mirrorTo: mirror.example.com/olm}`,
    '',
  ].join('\n');
  const blob = git(['hash-object', '-w', '--stdin'], policy);
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
  expect(current.length).toBeGreaterThan(5);
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
