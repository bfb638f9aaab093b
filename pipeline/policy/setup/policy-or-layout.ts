/** The policy of a commit for commands that only read: without one, the layout that `portolan setup` would write. */
import type { Repository } from '../../git/repository.ts';
import { listFiles } from '../../git/tree.ts';
import type { Layout } from '../layout.ts';
import { type PolicyRead, policyAt, readPolicy } from '../read-policy.ts';
import { bundleFolders, NO_FOLDERS } from './bundle-folders.ts';
import { findLayout, readEvidence } from './find-layout.ts';
import { firstPolicy } from './policy.ts';

/**
 * The policy of a commit. If it has none, and the default layout misses catalogs, a policy with the layout that was
 * found.
 *
 * @throws PipelineError `not-found`
 */
export async function policyOrLayoutAt(repository: Repository, commit: string): Promise<PolicyRead> {
  const { objects } = repository;
  const own = await policyAt(objects, commit);
  if (!own.defaults) return own;
  const files = await listFiles(objects, await objects.treeOf(commit));
  const { found } = await findLayout(await readEvidence(objects, files), { repository, commit });
  const { patterns: bundlePatterns } =
    found.patterns.length === 0 ? await bundleFolders(objects, files) : NO_FOLDERS;
  if (found.patterns.length + bundlePatterns.length === 0) return own;
  const read = readPolicy(Buffer.from(firstPolicy(found, [], { bundlePatterns })));
  // The default layout also matches catalogs that come later or that cannot be read.
  const paths = files.map(({ path }) => path);
  if (
    bundlePatterns.length === 0 &&
    own.policy &&
    read.policy &&
    covers(own.policy.layout, read.policy.layout, paths)
  )
    return own;
  // Nobody has asked to see findings only, as setup does for a start.
  const policy = read.policy && own.policy && { ...read.policy, enforce: own.policy.enforce };
  return { ...read, policy, defaults: true };
}

/** Whether a layout has the catalogs of another one, whatever it calls them: the same files, together in one catalog. */
function covers(layout: Layout, other: Layout, paths: readonly string[]): boolean {
  const pairs = new Set<string>();
  const [names, others] = [new Set<string>(), new Set<string>()];
  for (const path of paths) {
    const found = other.match(path);
    if (found?.kind !== 'catalog') continue;
    const match = layout.match(path);
    if (match?.kind !== 'catalog') return false;
    names.add(String(match.catalog));
    others.add(String(found.catalog));
    pairs.add(JSON.stringify([match.catalog, found.catalog]));
  }
  // As many pairs as names on either side: none of the catalogs is split, and no two are merged.
  return pairs.size === names.size && pairs.size === others.size;
}
