/** The layout that setup finds in a repository of some files. */
import { openRepository } from '../../pipeline/git/repository.ts';
import { listFiles } from '../../pipeline/git/tree.ts';
import { findLayout, type ProvenLayout, readEvidence } from '../../pipeline/policy/setup/find-layout.ts';
import { type Files, makeRepository } from './repository.ts';

export async function layoutAt(files: Files): Promise<ProvenLayout> {
  const git = makeRepository();
  git.git('reset', '--hard', '--quiet', git.commit(files));
  const repository = await openRepository(git.directory);
  try {
    const [commit = ''] = await repository.resolve(['HEAD']);
    const tree = await repository.objects.treeOf(commit);
    const files = await listFiles(repository.objects, tree);
    const evidence = await readEvidence(repository.objects, files, { validates: true });
    return await findLayout(evidence, { repository, commit });
  } finally {
    await repository.close();
    git.remove();
  }
}
