/** What the commands about advisories share. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shellWord } from '../../../catalog/names.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import { type Repository, withRepository, workTreeOf } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import { advisoryPath, isAdvisoryId, readAdvisory, type StoredAdvisory } from '../../policy/advisories.ts';
import type { Policy } from '../../policy/policy.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Option } from '../command.ts';

export const REPOSITORY_OPTIONS: Readonly<Record<'repo' | 'base', Option>> = {
  repo: { value: 'DIR', description: 'path of the repository (default: current directory)' },
  base: { value: 'REF', description: 'commit that has the catalogs (default: HEAD)' },
};

/** A clone, the commit whose catalogs are looked at, and its policy. */
export interface AdvisedClone {
  readonly directory: string;
  readonly repository: Repository;
  readonly commit: string;
  readonly policy: Policy;
}

/** Opens a clone for as long as something is done with it. @throws PipelineError `usage` without a policy */
export async function inClone<T>(
  { repo, base }: { readonly repo: string | undefined; readonly base: string | undefined },
  terminal: Terminal,
  work: (clone: AdvisedClone) => Promise<T>,
): Promise<T> {
  const directory = await workTreeOf(resolve(terminal.directory, repo ?? '.'), searchPath(terminal));
  return withRepository(directory, searchPath(terminal), async (repository) => {
    const [commit = ''] = await repository.resolve([base ?? 'HEAD']);
    const { policy } = await policyOrLayoutAt(repository, commit);
    if (!policy) {
      throw new PipelineError('usage', 'cannot read the policy', {
        hint: 'run portolan check --base HEAD for details',
      });
    }
    return await work({ directory, repository, commit, policy });
  });
}

/** An advisory that was read, with its text. */
interface ReadFile {
  readonly advisory: StoredAdvisory;
  readonly bytes: Uint8Array;
}

/**
 * An advisory of the work tree, or else of the commit.
 *
 * @throws PipelineError `usage` for one that is not there or has defects, which are printed
 */
export async function advisoryNamed(
  id: string,
  { directory, repository, commit }: Pick<AdvisedClone, 'directory' | 'repository' | 'commit'>,
  terminal: Terminal,
): Promise<ReadFile> {
  checkId(id);
  const path = advisoryPath(id);
  const file = join(directory, path);
  const entry = existsSync(file) ? undefined : await entryAt(repository.objects, commit, path);
  if (!existsSync(file) && !entry) {
    throw new PipelineError('usage', `there is no ${path}`, {
      hint: `create it: portolan advisory new ${shellWord(id)} --package NAME --version VERSION -m TEXT`,
    });
  }
  const bytes = entry ? (await repository.objects.read(entry.id, MOST_BYTES)).bytes : readRegular(file);
  const { advisory, findings } = readAdvisory(path, bytes);
  for (const finding of findings) terminal.err(findingText(finding));
  if (!advisory) throw new PipelineError('usage', `cannot read ${path}`);
  return { advisory, bytes };
}

/** Bytes of an advisory at most. */
const MOST_BYTES = 256 * 1024;

/** Checks that an id can be a file's name. @throws PipelineError `usage` */
export function checkId(id: string): void {
  if (isAdvisoryId(id)) return;
  throw new PipelineError('usage', `${JSON.stringify(id)} is not a valid id of an advisory`, {
    hint: 'use letters, digits, dots, dashes and underscores, for example ETCD-2026-001',
  });
}

/** The day of a check in UTC, `YYYY-MM-DD`. */
export function dayOf({ now }: Terminal): string {
  return now().toISOString().slice(0, 10);
}
