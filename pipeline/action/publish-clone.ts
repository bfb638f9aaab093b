/** A push published from a clone that somebody else made: no token, and nothing asked of GitHub. */
import { join, resolve } from 'node:path';
import { setFailed, setOutput, summary } from '@actions/core';
import { PipelineError } from '../error.ts';
import { type Repository, withRepository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import { policyAt } from '../policy/read-policy.ts';
import { type GitFence, gitFence } from '../publish/fence-git.ts';
import type { PublishPorts } from '../publish/plan.ts';
import { publishCatalog } from '../publish/publish.ts';
import { publishedCatalogs } from '../publish/published-catalogs.ts';
import type { PublishReceipt } from '../publish/receipt.ts';
import { inRings, textRings } from '../publish/rings/store.ts';
import { codeSpan, escapedMarkdown } from '../report/markdown.ts';
import { findingText, matchesGlob, plainText } from '../text.ts';
import type { RunInputs } from './inputs.ts';
import { info, logText } from './log.ts';
import { publishingClient } from './registries.ts';

interface Cloned {
  readonly repository: Repository;
  readonly directory: string;
  readonly commit: string;
  readonly policy: Policy;
}

/**
 * Publishes every catalog: without GitHub nobody knows what was published last, and the same content is the same image. The
 * published image says which commit it is from, so no older one takes its place.
 *
 * @throws PipelineError as `publishCatalog`; `usage` for what needs GitHub
 */
export async function publishClone(inputs: RunInputs, clone: string): Promise<void> {
  const directory = resolve(inputs.directory, clone);
  const searchPath = inputs.environment['PATH'];
  return withRepository(directory, { searchPath }, async (repository) => {
    const { event } = inputs;
    const [head = ''] = await repository.resolve([event.kind === 'push' ? event.commit : 'HEAD']);
    const policy = await pushedPolicy(repository, head);
    if (event.kind === 'push' && !policy.branches.some((pattern) => matchesGlob(pattern, event.branch)))
      return info(
        plainText(`the branch ${event.branch} is not in the policy's branches; nothing is published`),
      );
    refuseUnsupported(inputs, policy);
    await publishAll(inputs, { repository, directory, commit: head, policy });
  });
}

/** The policy of a pushed commit; what is wrong with it goes into the log. @throws PipelineError `usage` where it is not valid */
export async function pushedPolicy({ objects }: Repository, commit: string): Promise<Policy> {
  const { policy, findings } = await policyAt(objects, commit);
  if (policy) return policy;
  logText(findings.map(findingText).join(''));
  throw new PipelineError('usage', 'cannot read the policy of the pushed commit; nothing is published');
}

/** @throws PipelineError `usage` for what needs GitHub: functions trust its identity tokens, and releases are noted there */
function refuseUnsupported({ publish: { url } }: RunInputs, { release }: Policy): void {
  const hint = 'leave the input repository out: then the token of the job is used';
  if (url !== undefined)
    throw new PipelineError('usage', 'publish-url cannot be used with repository', { hint });
  if (release) throw new PipelineError('usage', 'bundles are not released from a clone', { hint });
}

/** Publishes every catalog of a clone in turn; one that is refused does not stop the others. A dry run only lists them. */
async function publishAll(inputs: RunInputs, cloned: Cloned): Promise<void> {
  const { repository, commit, policy } = cloned;
  const catalogs = await publishedCatalogs(repository.objects, commit, policy);
  if (inputs.dryRun) {
    for (const catalog of catalogs) info(plainText(`would publish ${catalog}`));
    return setOutput('published', '{}');
  }
  const ended: Ended[] = [];
  for (const catalog of catalogs)
    ended.push(await endedWith(catalog, () => publishOne(inputs, cloned, catalog)));
  await setPublished({ commit, ended, out: inputs.publish.out, rings: '' });
}

/** Publishes one catalog of a clone, with the fence in the clone's own refs. */
async function publishOne(inputs: RunInputs, cloned: Cloned, catalog: string): Promise<Ended> {
  const { repository, directory, commit, policy } = cloned;
  info(plainText(`publishing ${catalog}`));
  const registry = publishingClient(inputs, policy);
  const fence = gitFence({ repository: directory, settings: { searchPath: inputs.environment['PATH'] } });
  try {
    // Nobody else reads this clone's fence, so the published image is asked for its commit, too.
    const ports = { repository, registry, fence, ownFence: { takeOver: false } };
    return await publishInJob(inputs, ports, { commit, catalog });
  } finally {
    registry.close();
    await fence.close();
  }
}

/** Publishes a catalog in this job, with its steps and findings in the log, and its files in a folder of its name. */
export async function publishInJob(
  { publish, now }: Pick<RunInputs, 'publish' | 'now'>,
  ports: Omit<PublishPorts, 'fence' | 'progress' | 'inRings'> & { readonly fence: GitFence },
  { commit, catalog }: { readonly commit: string; readonly catalog: string },
): Promise<Ended> {
  const { fence } = ports;
  const progress = (step: string): void => info(plainText(step));
  const digestsInRings = inRings(fence, (of, name) => textRings(fence, of, name));
  const request = { commit, catalog, out: join(publish.out, catalog), today: now.toISOString().slice(0, 10) };
  const published = await publishCatalog({ ...ports, progress, inRings: digestsInRings }, request);
  if (published.findings.length > 0) logText(published.findings.map(findingText).join(''));
  // The place already has this commit or a newer one.
  if (published.kind === 'superseded') return { catalog, kind: 'unchanged' };
  if (published.kind === 'published') return { catalog, kind: 'published', receipt: published.receipt };
  return { catalog, kind: 'refused', why: published.findings[0]?.message ?? 'it has errors' };
}

// What a run has published, in its outputs and its summary.

/** How publishing one catalog ended. */
export type Ended =
  | { readonly catalog: string; readonly kind: 'published'; readonly receipt: PublishReceipt }
  | { readonly catalog: string; readonly kind: 'refused'; readonly why: string }
  | { readonly catalog: string; readonly kind: 'unchanged' | 'retired' };

/** How publishing a catalog ended. An error refuses this catalog, and does not keep the run from the others. */
export async function endedWith(catalog: string, publish: () => Promise<Ended>): Promise<Ended> {
  try {
    return await publish();
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    const { message, hint } = error;
    info(plainText(hint === undefined ? `${catalog}: ${message}` : `${catalog}: ${message}: ${hint}`));
    return { catalog, kind: 'refused', why: message };
  }
}

interface Run {
  /** Id of the commit. */
  readonly commit: string;
  readonly ended: readonly Ended[];
  /** Where the published files are. */
  readonly out: string;
  /** What follows the table. */
  readonly rings: string;
}

/** Sets the outputs and writes the summary; what was refused fails the run. */
export async function setPublished({ commit, ended, out, rings }: Run): Promise<void> {
  const receipts = ended.flatMap((one) =>
    one.kind === 'published' ? [[one.catalog, one.receipt] as const] : [],
  );
  setOutput('published', JSON.stringify(Object.fromEntries(receipts)));
  setOutput('files', out);
  await summary.addRaw(`${summaryOf(commit, ended)}${rings}`).write();
  const refused = ended.filter(({ kind }) => kind === 'refused').map(({ catalog }) => catalog);
  if (refused.length > 0) setFailed(`not published: ${plainText(refused.join(', '))}`);
}

/** The cells that say how it ended: image and digest of what was published, or why nothing was. */
function endCells(one: Ended): [image: string, digest?: string] {
  if (one.kind === 'published') return [codeSpan(one.receipt.image), codeSpan(one.receipt.digest)];
  return [one.kind === 'refused' ? escapedMarkdown(one.why) : ''];
}

/** The job's summary: a row for each catalog. */
function summaryOf(commit: string, ended: readonly Ended[]): string {
  const rows = ended.map((one) => {
    const [image, digest = ''] = endCells(one);
    return `| ${escapedMarkdown(one.catalog)} | ${one.kind} | ${image} | ${digest} |`;
  });
  return [
    `## Catalogs of ${commit.slice(0, 12)}`,
    '',
    '| catalog | | image | digest |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
