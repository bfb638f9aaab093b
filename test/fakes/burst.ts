/** A burst of merges, each of which changes one of five catalogs. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { folder } from './folder.ts';
import { sampleFiles, sampleRepository } from './sample.ts';

export const CATALOGS = 5;
/** Between two merges, in ms. */
export const PACE = 150;

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));

export function catalogOf(n: number): string {
  return `v4.${20 + n}`;
}

/** The number of the last merge up to `n` that changed a catalog. */
export function changedAt(catalog: number, n: number): number {
  for (let at = n; at > 0; at--) if (at % CATALOGS === catalog) return at;
  return 0;
}

export interface Burst {
  /** Ids of merges, the oldest first; the first has all catalogs, each further one changes one of them. */
  readonly commits: readonly string[];
  /** The bare repository that is served. */
  readonly served: string;
  /** Moves the branch to a merge. */
  merge(commit: string): void;
}

/** @param more keys of the policy beside the image */
export function burst(many: number, registry: string, more = ''): Burst {
  const files = sampleFiles();
  const policy = String(files['.github/portolan.yaml'])
    .replace('registry.example.com', registry)
    .replace(/( +)mirrorTo:/, (line, indent) => (more === '' ? line : `${indent}${more}\n${line}`));
  const path = (n: number): string => `catalogs/${catalogOf(n)}/harbour-operator/catalog.yaml`;
  const harbour = String(files[path(0)]);
  const changed = (n: number): string => harbour.replace('runs harbours', `runs ${n} harbours`);
  const all = Object.fromEntries(Array.from({ length: CATALOGS }, (_, n) => [path(n), changed(0)]));
  const sample = sampleRepository({ '.github/portolan.yaml': policy, ...all });
  onTestFinished(() => sample.remove());
  const commits = [sample.base];
  for (let n = 1; n < many; n++) {
    const parents = [commits.at(-1) ?? ''];
    commits.push(sample.commit({ [path(n % CATALOGS)]: changed(n) }, { parents, branch: 'burst' }));
  }
  const served = join(folder(), 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
  execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
  const merge = (commit: string): void =>
    void execFileSync('git', ['-C', served, 'update-ref', 'refs/heads/main', commit]);
  return { commits, served, merge };
}
