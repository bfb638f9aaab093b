/** Judging a catalog with a memory: packages whose files are as they were are not read again. */

import { DEFAULT_LIMITS } from '../../catalog/fbc/load.ts';
import type { Finding } from '../../catalog/finding.ts';
import { ownSeverity, type Rule } from '../../catalog/rules/rule.ts';
import type { CatalogSource } from '../../catalog/source.ts';
import { directorySource } from '../directory.ts';
import type { GitSettings } from '../git/process.ts';
import { workTreeSource } from '../git/work-tree.ts';
import { openMemory, type Store, writeMemory } from '../oci/image/build-cache.ts';
import { directoryStore } from '../oci/image/directory-store.ts';
import { judgeContents, judgedCounts } from '../oci/image/package-verdicts.ts';
import { readContents } from '../oci/image/packages.ts';

export interface Verdict {
  /** All findings, the worst first. */
  readonly findings: readonly Finding[];
  /** How many `olm.package` and `olm.bundle` blobs there are. */
  readonly packages: number;
  readonly bundles: number;
}

const KEY = 'validate';

/**
 * What `judge` says of the catalog in a directory, remembered in another.
 *
 * @throws PipelineError `io` or `not-found` for either directory
 */
export function judgeWorkTree(
  root: string,
  rules: readonly Rule[],
  { cache, ...settings }: GitSettings & { readonly cache: string },
): Promise<Verdict> {
  return judgeRemembered(workTreeSource(directorySource(root), root, settings), rules, directoryStore(cache));
}

/**
 * What `judge` says of a catalog whose files name their content, remembered in a directory.
 *
 * @throws PipelineError `io` for the directory
 */
export function judgeStored(source: CatalogSource, rules: readonly Rule[], cache: string): Promise<Verdict> {
  return judgeRemembered(source, rules, directoryStore(cache));
}

/**
 * What `judge` says of a catalog. The store keeps what was said of each package, and nothing
 * of packages that are no longer there.
 *
 * @throws PipelineError `io` when the store cannot be read or written
 */
export async function judgeRemembered(
  source: CatalogSource,
  rules: readonly Rule[],
  store: Store,
): Promise<Verdict> {
  const before = await store.get(KEY);
  const memory = openMemory(before);
  const { contents, findings: unread } = await readContents(source, memory.files, false);
  const judging = { rules, severityOf: ownSeverity, limits: DEFAULT_LIMITS };
  const findings = await judgeContents(contents, memory.verdicts, judging);
  const after = writeMemory(memory, memory.room ?? 0);
  if (before === undefined || Buffer.compare(before, after) !== 0) await store.put(KEY, after);
  const judged = new Set(contents.groups.flat().map(({ file }) => file.path));
  const ofIgnoreFiles = unread.filter(({ location }) => !judged.has(location.file));
  return { findings: [...findings, ...ofIgnoreFiles], ...judgedCounts(memory.verdicts) };
}
