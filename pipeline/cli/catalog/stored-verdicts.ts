/** Checking a catalog with a memory: packages whose files are as they were are not read again. */

import { DEFAULT_LIMITS } from '../../../catalog/fbc/load.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { ownSeverity, type Rule } from '../../../catalog/rules/rule.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import { directorySource } from '../../directory.ts';
import type { GitSettings } from '../../git/process.ts';
import { workTreeSource } from '../../git/source.ts';
import { openBuildCache, type Store, writeBuildCache } from '../../oci/image/build-cache.ts';
import { checkContents, checkedCounts } from '../../oci/image/package-verdicts.ts';
import { readContents } from '../../oci/image/packages.ts';
import { ownStore } from '../own-store.ts';

export interface Verdict {
  /** All findings, the worst first. */
  readonly findings: readonly Finding[];
  /** How many `olm.package` and `olm.bundle` blobs there are. */
  readonly packages: number;
  readonly bundles: number;
}

/** The store's one key for this command. */
const KEY = 'validate';

/**
 * What `checkCatalog` finds of the catalog in a directory, remembered in another.
 *
 * @throws PipelineError `io` or `not-found` for either directory, `not-allowed` for a cache that others can write to
 */
export async function checkWorkTree(
  root: string,
  rules: readonly Rule[],
  { cache, ...settings }: Remembering,
): Promise<Verdict> {
  const source = workTreeSource(directorySource(root), root, settings);
  return checkRemembered(source, rules, await ownStore(cache, settings));
}

/** The directory of the cache, and how git is found. */
type Remembering = GitSettings & { readonly cache: string };

/**
 * What `checkCatalog` finds of a catalog whose files name their content, remembered in a directory.
 *
 * @throws PipelineError `io` for the directory, `not-allowed` for one that others can write to
 */
export async function checkStored(
  source: CatalogSource,
  rules: readonly Rule[],
  { cache, ...settings }: Remembering,
): Promise<Verdict> {
  return checkRemembered(source, rules, await ownStore(cache, settings));
}

/**
 * What `checkCatalog` finds of a catalog. The store keeps what was said of each package, and nothing
 * of packages that are no longer there.
 *
 * @throws PipelineError `io` when the store cannot be read or written
 */
export async function checkRemembered(
  source: CatalogSource,
  rules: readonly Rule[],
  store: Store,
): Promise<Verdict> {
  const before = await store.get(KEY);
  const memory = openBuildCache(before);
  // `false`: no image is made, so what opm's cache cannot hold is not an error.
  const { contents, findings: unread } = await readContents(source, memory.files, false);
  const options = { rules, severityOf: ownSeverity, limits: DEFAULT_LIMITS };
  const findings = await checkContents(contents, memory.verdicts, options);
  // Only builds of images have layers: the room that one has planned stays, and is 0 where none ever ran.
  const after = writeBuildCache(memory, memory.room ?? 0);
  if (before === undefined || Buffer.compare(before, after) !== 0) await store.put(KEY, after);
  const checked = new Set(contents.groups.flat().map(({ file }) => file.path));
  // What cannot be read of a checked file is among its findings already.
  const ofIgnoreFiles = unread.filter(({ location }) => !checked.has(location.file));
  return { findings: [...findings, ...ofIgnoreFiles], ...checkedCounts(memory.verdicts) };
}
