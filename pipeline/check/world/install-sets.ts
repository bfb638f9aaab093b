/** The sets of operators that the policy names, before and after a change. */
import { readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { type PublishedSet, publishedSet } from '../../../catalog/olm/published-set.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { ContextReport } from './context.ts';
import type { CheckScene } from './scene.ts';
import type { Sided } from './touched-catalog.ts';

interface InstallSets extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly sets: Sided<readonly PublishedSet[]>;
}

/** Reads them. A set that the merged tree does not have is no longer published. */
export async function readInstallSets({
  objects,
  policy,
  trees,
}: Pick<CheckScene, 'objects' | 'policy' | 'trees'>): Promise<InstallSets> {
  const [before, after]: [PublishedSet[], PublishedSet[]] = [[], []];
  const unread: { what: string; why: string }[] = [];
  for (const path of policy.graph.installSets) {
    const [was, is] = [await setAt(trees.base), await setAt(trees.merged)];
    if (was && 'file' in was) before.push(was);
    if (is && 'file' in is) after.push(is);
    else if (is) unread.push({ what: `whether the set ${path} can still be installed`, why: is.why });

    async function setAt(tree: string): Promise<PublishedSet | { readonly why: string } | undefined> {
      const entry = await entryAt(objects, tree, path);
      if (!entry) return undefined;
      const why = whyUnreadable(entry.mode);
      if (why !== undefined) return { why };
      const size = (await objects.info(entry.id))?.size ?? 0;
      if (size > policy.limits.fileBytes) return { why: 'the file is larger than limits.fileBytes' };
      const bytes = await sourceFile(objects, { ...entry, path }).read();
      return publishedSet(readManifestFile(path, bytes));
    }
  }
  const [first] = unread;
  return { sets: { before, after }, unchecked: unread, incomplete: first && `${first.what}: ${first.why}` };
}
