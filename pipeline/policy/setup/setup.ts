/** What a repository needs to be gated: a policy that fits its layout, and the workflows. */

import { PipelineError } from '../../error.ts';
import type { Repository } from '../../git/repository.ts';
import { listFiles } from '../../git/tree.ts';
import { POLICY_PATH } from '../read-policy.ts';
import { lookAt } from './catalog-files.ts';
import { type FoundLayout, layoutOf } from './layout.ts';
import { firstPolicy } from './policy.ts';
import { WORKFLOWS } from './workflows.ts';

export interface SetupRequest {
  /** The revision that is looked at. */
  readonly commit: string;
  readonly admins: readonly string[];
  /** `OWNER/REPOSITORY@COMMIT` in place of the action that the workflows name. */
  readonly action?: string | undefined;
}

export interface Setup {
  readonly found: FoundLayout;
  /** Files to write, by path; those that the repository has are not among them. */
  readonly files: ReadonlyMap<string, string>;
  /** Paths that the repository has already. */
  readonly kept: readonly string[];
}

const ACTION = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_./-]+@[0-9a-f]{40}$/;

/** @throws PipelineError `usage` for an action that is not pinned by commit, `not-found` */
export async function setup(repository: Repository, request: SetupRequest): Promise<Setup> {
  const { action, admins } = request;
  if (action !== undefined && !ACTION.test(action))
    throw new PipelineError(
      'usage',
      `invalid action ${JSON.stringify(action)}: expected OWNER/REPOSITORY@COMMIT`,
    );
  const [commit = ''] = await repository.resolve([request.commit]);
  const { objects } = repository;
  const files = await listFiles(objects, await objects.treeOf(commit));
  const { catalogs, read } = await lookAt(objects, files);
  const found = layoutOf(
    catalogs,
    files.map(({ path }) => path),
    read,
  );
  const wanted = new Map([[POLICY_PATH, firstPolicy(found, admins)]]);
  for (const [name, text] of Object.entries(WORKFLOWS))
    wanted.set(`.github/workflows/${name}`, action === undefined ? text : named(text, action));
  const there = new Set(files.map(({ path }) => path));
  return {
    found,
    files: new Map([...wanted].filter(([path]) => !there.has(path))),
    kept: [...wanted.keys()].filter((path) => there.has(path)),
  };
}

function named(workflow: string, action: string): string {
  return workflow.replaceAll(/uses: portolan\/portolan@[0-9a-f]{40} # \S+/g, () => `uses: ${action}`);
}
