/**
 * The catalog of a directory checked by two threads. Rules look at one package at a time, so what each thread finds
 * of its packages adds up to what one thread finds of all. Where it does not, one thread checks everything.
 */
import type { Blobs } from '../../../catalog/fbc/model.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import type { Rule } from '../../../catalog/rules/rule.ts';
import {
  halfLimits,
  inTwoThreads,
  joinedFindings,
  sharedTask,
  sourceOfShare,
  type Thread,
  type ThreadOptions,
  type ThreadTask,
} from '../../catalogs/two-threads.ts';
import { directorySource } from '../../directory.ts';
import type { Verdict } from './stored-verdicts.ts';

/** What one thread found of the parts that it took. */
interface Share extends Verdict {
  /** What rules compare across files: names of packages, and schemas that have no domain. */
  readonly names: readonly string[];
}

/**
 * What `checkCatalog` finds of a directory.
 *
 * @param threads of a second thread for large directories; its program posts what `checkShare` gives
 * @throws PipelineError `not-found` or `io`
 */
export async function checkDirectory(
  root: string,
  rules: readonly Rule[],
  threads: ThreadOptions | undefined,
): Promise<Verdict> {
  const task = threads && (await sharedTask(root, threads, partOf));
  const check = (own: ThreadTask, thread: Thread): Promise<Share> => checkShare(own, rules, thread);
  const shares = task && (await inTwoThreads(threads.program, task, check));
  const verdict = shares && sumOf(...shares);
  if (verdict) return verdict;
  const { findings, catalog } = await checkCatalog(directorySource(root), rules);
  return { findings, packages: catalog.blobs.packages.length, bundles: catalog.blobs.bundles.length };
}

/** The file or folder at the top of a catalog: most have a package in each. */
function partOf(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? path : path.slice(0, slash);
}

/**
 * Checks the parts of a catalog that no other thread has taken yet.
 *
 * @param thread the second one when left out
 * @throws Error in the second thread, when files are not there any more
 */
export async function checkShare(task: ThreadTask, rules: readonly Rule[], thread?: Thread): Promise<Share> {
  const source = await sourceOfShare(task, thread);
  const { findings, catalog } = await checkCatalog(source, rules, { limits: halfLimits() });
  const { packages, bundles } = catalog.blobs;
  const names = namesIn(catalog.blobs);
  return { findings, packages: packages.length, bundles: bundles.length, names };
}

/** The names by which rules compare blobs of different files; a schema without a dot is one without a domain. */
function namesIn({ packages, channels, bundles, deprecations, others }: Blobs): string[] {
  const names = new Set(packages.map(({ name }) => `package ${name}`));
  for (const { package: name } of [...channels, ...bundles, ...deprecations, ...others])
    names.add(`package ${name}`);
  for (const { schema } of others) if (!schema.includes('.')) names.add(`schema ${schema}`);
  return [...names];
}

/** What two threads found, as one; undefined when it may differ from what one thread finds of all. */
export function sumOf(a: Share, b: Share): Verdict | undefined {
  const names = new Set(a.names);
  if (b.names.some((name) => names.has(name))) return undefined;
  const findings = joinedFindings(a.findings, b.findings);
  return findings && { findings, packages: a.packages + b.packages, bundles: a.bundles + b.bundles };
}
