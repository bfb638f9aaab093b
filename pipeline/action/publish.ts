/** What a push to a gated branch brings to clusters: every catalog that differs from what was published last. */
import { setFailed, setOutput, warning } from '@actions/core';
import { PipelineError } from '../error.ts';
import { fetchCommits } from '../git/fetch-commits.ts';
import { openRemote } from '../git/remote.ts';
import { namedCheck } from '../github/checks.ts';
import { lastDeployed, noteDeployed } from '../github/deployments.ts';
import type { Registry } from '../ports.ts';
import type { CheckOf } from '../publish/delivery/ports.ts';
import { type GitFence, gitFence } from '../publish/fence-git.ts';
import {
  bringCatalog,
  catalogIdentity,
  heldBackBy,
  missingReference,
  publishedCatalogs,
} from '../publish/published-catalogs.ts';
import { ringsListText } from '../publish/rings/look.ts';
import type { RingState } from '../publish/rings/state.ts';
import { matchesGlob, plainText } from '../text.ts';
import { defaultTip, type Forge, openForge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { info } from './log.ts';
import { publishByFunctions } from './publish-by-functions.ts';
import {
  type Ended,
  endedWith,
  publishClone,
  publishInJob,
  pushedPolicy,
  setPublished,
} from './publish-clone.ts';
import { publishingClient } from './registries.ts';
import { bundlesToRelease, type Push, releaseArrived } from './release.ts';
import { retireGone, returnedAmong } from './retire.ts';
import { moveAllRings } from './rings.ts';

/** Runs the mode `publish`: publishes what a push changed. @throws PipelineError as the client and the fetching do */
export async function publishPush(inputs: RunInputs): Promise<void> {
  if (inputs.clone !== undefined) return publishClone(inputs, inputs.clone);
  const forge = await openForge(inputs);
  const { branch, commit } = await pushedOf(inputs, forge);
  const repository = openRemote(forge.remote, forge.git);
  try {
    await repository.bring([commit]);
    const policy = await pushedPolicy(repository, commit);
    if (!policy.branches.some((pattern) => matchesGlob(pattern, branch)))
      return info(plainText(`the branch ${branch} is not in the policy's branches; nothing is published`));
    const publishing = { inputs, forge, repository, branch, commit, policy };
    if (inputs.dryRun) return await reportPublishing(publishing);
    const { commit: last, missing } = await releaseArrived(publishing);
    await publishAll({ ...publishing, commit: last }, missing);
  } finally {
    await repository.close();
  }
}

/** What was pushed; on a schedule, the tip of the default branch, in case no push announced it. */
async function pushedOf({ event }: RunInputs, forge: Forge): Promise<{ branch: string; commit: string }> {
  if (event.kind === 'push') return event;
  if (event.kind === 'clock') return defaultTip(forge);
  throw new PipelineError('usage', 'mode publish supports the events push, schedule and workflow_dispatch');
}

/** What a run that may change something would do. */
async function reportPublishing(publishing: Push): Promise<void> {
  for (const { package: name, version } of await bundlesToRelease(publishing))
    info(plainText(`would release ${name} ${version}`));
  const { changed } = await toPublish(publishing);
  for (const catalog of changed) info(plainText(`would publish ${catalog}`));
  setOutput('published', '{}');
}

/** The catalogs that the policy publishes, and those of them that a run publishes. */
async function toPublish(
  publishing: Push,
): Promise<{ catalogs: readonly string[]; changed: ReadonlySet<string> }> {
  const { repository, commit, policy, inputs } = publishing;
  const catalogs = await publishedCatalogs(repository.objects, commit, policy);
  const changed = inputs.publish.everything ? new Set(catalogs) : await changedOf(publishing, catalogs);
  return { catalogs, changed };
}

/**
 * Publishes the changed catalogs, retires removed ones, moves rings, and sets the outputs. A catalog that names a bundle
 * which is not released yet is held back.
 */
async function publishAll(publishing: Push, missing: ReadonlySet<string>): Promise<void> {
  const { repository, commit, policy, inputs } = publishing;
  const { catalogs, changed } = await toPublish(publishing);
  const ended: Ended[] = [];
  for (const catalog of catalogs) {
    const missingBundle = changed.has(catalog)
      ? await missingReference({ objects: repository.objects, commit, policy, name: catalog }, missing)
      : undefined;
    if (missingBundle !== undefined) {
      const why = heldBackBy(missingBundle);
      info(plainText(`${catalog} is held back: ${why}`));
      ended.push({ catalog, kind: 'refused', why });
    } else if (changed.has(catalog))
      ended.push(await endedWith(catalog, () => publishOne(publishing, catalog)));
    else ended.push({ catalog, kind: 'unchanged' });
  }
  for (const catalog of await retireGoneCatalogs(publishing, catalogs))
    ended.push({ catalog, kind: 'retired' });
  const { rings, failed } = await openDueRings(publishing, catalogs);
  if (failed.length > 0) setFailed(`rings not looked at: ${plainText(failed.join(', '))}`);
  await setPublished({ commit, ended, out: inputs.publish.out, rings: ringsSummary(rings) });
}

/** Publishes one catalog, here or by functions, and records the deployment on GitHub. */
async function publishOne(publishing: Push, catalog: string): Promise<Ended> {
  const { forge, inputs } = publishing;
  info(plainText(`publishing ${catalog}`));
  const ended =
    inputs.publish.url === undefined
      ? await publishHere(publishing, catalog)
      : await publishByFunctions(publishing, { catalog, url: inputs.publish.url });
  if (ended.kind !== 'published') return ended;
  try {
    await noteDeployed(forge.github, forge.repository, { receipt: ended.receipt, link: inputs.posting.link });
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    warning(`cannot record the deployment of ${plainText(catalog)}: ${plainText(error.message)}`);
  }
  return ended;
}

/**
 * The catalogs whose content differs from their last deployment. A catalog whose deployment is not known counts as
 * changed.
 */
async function changedOf(publishing: Push, catalogs: readonly string[]): Promise<Set<string>> {
  const { forge, repository } = publishing;
  const lasts = await Promise.all(
    catalogs.map(async (name) => ({
      name,
      commit: (await lastDeployed(forge.github, forge.repository, name))?.commit,
    })),
  );
  const fetched = await fetchCommits(repository, new Set(lasts.flatMap(({ commit }) => commit ?? [])));
  const changed = new Set<string>();
  for (const { name, commit } of lasts) {
    if (
      commit === undefined ||
      !fetched.has(commit) ||
      (await catalogDiffers(publishing, { name, last: commit }))
    )
      changed.add(name);
  }
  const others = catalogs.filter((name) => !changed.has(name));
  return new Set([...changed, ...(await returnedCatalogs(publishing, others))]);
}

/**
 * The catalogs that were retired and that the commit has again. They are published even if their content is that of the last
 * deployment. None if functions publish: they read the fence themselves.
 */
async function returnedCatalogs(publishing: Push, catalogs: readonly string[]): Promise<string[]> {
  if (catalogs.length === 0 || publishing.inputs.publish.url !== undefined) return [];
  const { policy } = publishing;
  return withPlaces(publishing, ({ fence }) => returnedAmong(catalogs, { fence, policy }));
}

/** Whether the files of a catalog are others than at the commit that was deployed last. */
async function catalogDiffers(
  { repository, commit, policy }: Push,
  { name, last }: { readonly name: string; readonly last: string },
): Promise<boolean> {
  const [before, now] = await Promise.all(
    [last, commit].map((id) => catalogIdentity(repository.objects, id, { policy, name })),
  );
  return before !== now;
}

/**
 * Retires published catalogs that the branch no longer has; if functions publish, they do it. A policy that publishes nothing
 * says nothing of images that were published before it, and costs no request.
 *
 * @returns names of the catalogs that were retired
 */
async function retireGoneCatalogs(publishing: Push, catalogs: readonly string[]): Promise<string[]> {
  const { inputs, repository, branch, commit, policy } = publishing;
  if (inputs.publish.url !== undefined || policy.publish.catalogs.length === 0) return [];
  const log = (line: string): void => warning(plainText(line));
  return withPlaces(publishing, (places) =>
    retireGone({ ...places, repository, branch, commit, policy, catalogs, log }),
  );
}

/** Opens rings that are due. If functions publish, they do that. */
async function openDueRings(
  publishing: Push,
  catalogs: readonly string[],
): Promise<Awaited<ReturnType<typeof moveAllRings>>> {
  const { inputs, forge, repository, branch, commit, policy } = publishing;
  const isRinged = policy.publish.catalogs.some(({ rings }) => rings.length > 0);
  if (inputs.publish.url !== undefined || !isRinged) return { rings: [], failed: [] };
  const { owner, repo } = forge.repository;
  const checkOf: CheckOf = ({ commit }, name) => namedCheck(forge.github, forge.repository, { commit, name });
  const log = (line: string): void => info(plainText(line));
  const around = { repository, commit, policy, catalogs, branch, checkOf, log, now: () => new Date() };
  return withPlaces(publishing, (places) => moveAllRings({ ...places, ...around, name: `${owner}/${repo}` }));
}

/** What each ring has, and what waits for it, as a code block of Markdown (indented, so that no text can end it). */
function ringsSummary(rings: readonly RingState[]): string {
  if (rings.length === 0) return '';
  const lines = ringsListText(rings).trimEnd().split('\n');
  return ['', '## Release rings', '', ...lines.map((line) => `    ${line}`), ''].join('\n');
}

/** Publishes a catalog in this job. */
async function publishHere(publishing: Push, catalog: string): Promise<Ended> {
  const { inputs, repository, commit, policy } = publishing;
  await bringCatalog(repository.objects, commit, { policy, name: catalog });
  return withPlaces(publishing, (places) =>
    publishInJob(inputs, { ...places, repository }, { commit, catalog }),
  );
}

/** What a publish writes to. */
interface Places {
  readonly registry: Registry;
  /** Runs end in any order, a run again of an old one too: the repository itself remembers the newest commit. */
  readonly fence: GitFence;
}

/** Calls a function with the registry and the fence that a publish writes to, and closes them afterwards. */
async function withPlaces<T>(
  { inputs, forge, policy }: Push,
  use: (places: Places) => Promise<T>,
): Promise<T> {
  const registry = publishingClient(inputs, policy);
  const fence = gitFence({ repository: forge.remote.url, settings: forge.git, reach: forge.remote });
  try {
    return await use({ registry, fence });
  } finally {
    registry.close();
    await fence.close();
  }
}
