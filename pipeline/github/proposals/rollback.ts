/** A catalog as it was, proposed as a pull request: built on the branch's newest commit, and checked against it. */

import {
  type Restored,
  type RollbackRequest,
  restoreCatalog,
  rollbackTitle,
} from '../../check/proposals/rollback.ts';
import { openHistory } from '../../forge/history.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { entryAt, isTree, joinPath, listFiles } from '../../git/tree.ts';
import { rollbackBody } from '../../report/proposal-text.ts';
import { gitHubForge } from '../forge.ts';
import type { Content } from '../git-data.ts';
import { type Proposed, proposeChange } from './proposal.ts';
import type { ProposalPorts } from './state.ts';

export interface ProposedRollback {
  /** The proposed rollback, or the reason against it. */
  readonly restored: Restored;
  /** The pull request. An open one stays unchanged if the rollback is refused. */
  readonly proposed: Proposed;
}

/**
 * Proposes the way back; said twice it is one pull request, and another commit to go back to is the same one,
 * changed. Nobody's work on it is undone.
 *
 * @param ports nothing needs to have been brought into the repository
 * @param request `base` is the name of the branch; `to` may be the beginning of an id
 * @throws PipelineError as `rollBackCatalog` and `proposeChange`
 */
export async function proposeRollback(
  ports: ProposalPorts,
  request: Omit<RollbackRequest, 'directory'>,
): Promise<ProposedRollback> {
  const { repository } = ports;
  const { catalog } = request;
  let restored: Restored = { kind: 'refused', findings: [], stranding: false };
  const proposed = await proposeChange(ports, {
    subject: `rollback/${catalog}`,
    base: request.base,
    again: true,
    make: async (tip) => {
      const made = await restoredAt(ports, request, tip);
      restored = made.restored;
      if (restored.kind === 'refused') return 'leave-unchanged';
      if (restored.kind === 'same') return undefined;
      const title = rollbackTitle(catalog, made.to);
      const body = rollbackBody({ catalog, to: made.to, findings: restored.findings });
      return {
        title,
        body,
        files: await filesAt(repository.objects, { ...made, tip, paths: restored.paths }),
      };
    },
  });
  return { restored, proposed };
}

/** The rollback on top of a commit, and the id of the commit to go back to. */
async function restoredAt(
  { github, name, repository }: ProposalPorts,
  request: Omit<RollbackRequest, 'directory'>,
  tip: string,
): Promise<{ restored: Restored; to: string }> {
  // The beginning of an id is looked up among all commits that led to the tip.
  await repository.bringHistory([tip]);
  const [to = ''] = await repository.resolve([request.to]);
  await repository.bring([tip, to]);
  // The new commit is made among the objects that were brought: there is no clone with a branch.
  const { scratch: directory } = repository;
  const { of: historyOf } = openHistory(
    { forge: gitHubForge({ github, repository: name }), git: repository },
    tip,
  );
  return {
    restored: await restoreCatalog(repository, { ...request, directory, base: tip, to, historyOf }),
    to,
  };
}

interface Places {
  readonly tip: string;
  readonly to: string;
  readonly paths: readonly string[];
}

/** The new content of the catalog's places: that of the older commit. A place that it lacks is removed. */
async function filesAt(
  objects: ObjectReader,
  { tip, to, paths }: Places,
): Promise<ReadonlyMap<string, Content>> {
  const files = new Map<string, Content>();
  for (const path of paths) {
    const [now, then] = await Promise.all([tip, to].map((commit) => entryAt(objects, commit, path)));
    // A folder is removed by its files.
    if (then || !now || !isTree(now.mode)) files.set(path, then);
    else for (const file of await listFiles(objects, now.id)) files.set(joinPath(path, file.path), undefined);
  }
  return files;
}
