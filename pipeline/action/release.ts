/** What a push that brings bundles makes of them, before catalogs are published. */
import { setFailed, setOutput, summary, warning } from '@actions/core';
import { addedBundles, type BundleName, bundlesIn } from '../catalogs/release/bundle-image.ts';
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import { bundlesEnvironment, lastReleased, noteReleased, type ReleasedNote } from '../github/deployments.ts';
import {
  type BundleRelease,
  type ReleaseBundlesRequest,
  releaseArrivals,
} from '../github/proposals/release-bundles.ts';
import { readDefaultBranch } from '../github/pull-request.ts';
import type { Policy } from '../policy/policy.ts';
import { codeSpan, escapedMarkdown } from '../report/markdown.ts';
import { findingText, plainText } from '../text.ts';
import type { Forge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { info, logText } from './log.ts';
import { publishingClient, registriesOf } from './registries.ts';

/** A push whose bundles are to be released, and whose catalogs are to be published. */
export interface Push {
  readonly inputs: RunInputs;
  readonly forge: Forge;
  readonly repository: Repository;
  /** The branch that was pushed to. */
  readonly branch: string;
  /** Id of the pushed commit. */
  readonly commit: string;
  readonly policy: Policy;
}

/** What is left to publish. */
interface Arrived {
  /** Id of the commit to publish: the pushed one, or the last of those that released something on the branch. */
  readonly commit: string;
  /** References of bundles that were refused and that no registry is known to have. */
  readonly missing: ReadonlySet<string>;
}

/**
 * Releases the bundles that have arrived on the branch.
 *
 * @throws PipelineError as the client, the fetching and the registries
 */
export async function releaseArrived(releasing: Push): Promise<Arrived> {
  const { inputs, forge, repository, branch, commit, policy } = releasing;
  const since = policy.release && (await sinceOf(releasing));
  if (since === undefined) return { commit, missing: new Set() };
  const registry = publishingClient(inputs, policy);
  const references = registriesOf(inputs);
  try {
    const { github, repository: name } = forge;
    const ports = { github, name, repository, registry, registryFor: references.under };
    const today = inputs.now.toISOString().slice(0, 10);
    const { released, missing } = await releaseArrivals(ports, { ...since, branch, commit, policy, today });
    await showReleased(released);
    const last = released.findLast((one) => one.commit !== undefined)?.commit ?? commit;
    if (last !== commit) await repository.bring([last]);
    // An image that was missing may have come, without a new release.
    if (released.length > 0 || missing.size < since.missing.length)
      await noteAll(releasing, released, { environment: since.environment, missing: [...missing] });
    return { commit: last, missing };
  } finally {
    registry.close();
    references.close();
  }
}

/** The bundles that have arrived and that the policy releases. @throws PipelineError as the client and the fetching */
export async function bundlesToRelease(releasing: Push): Promise<readonly BundleName[]> {
  const { repository, commit, policy } = releasing;
  const since = policy.release && (await sinceOf(releasing));
  if (since === undefined) return [];
  const { objects } = repository;
  const refused = await bundlesIn(objects, commit, since.refused);
  return [...refused, ...(await addedBundles(objects, { before: since.before, after: commit }, policy))];
}

/** The commit after which bundles are new, and what is noted of those up to it. */
type Since = Pick<ReleaseBundlesRequest, 'before' | 'refused'> &
  Pick<ReleasedNote, 'missing' | 'environment'>;

/** The commit since which bundles count as new, with what was refused up to it; undefined if that is not known. */
async function sinceOf({ inputs, forge, repository, branch }: Push): Promise<Since | undefined> {
  const { event } = inputs;
  // GitHub says zeros where the branch is new.
  const pushed = event.kind === 'push' && !/^0+$/.test(event.before) ? event.before : undefined;
  // On a schedule the branch is the default one.
  const defaultBranch =
    event.kind === 'clock' ? branch : await readDefaultBranch(forge.github, forge.repository);
  // Each branch has its own notes: a bundle that was released on one may be new on another.
  const environment = bundlesEnvironment(branch, defaultBranch);
  const last = await lastReleased(forge.github, forge.repository, environment);
  // The last note comes before the push's own start: a push in between may not have started a run.
  for (const before of [last?.commit, pushed]) {
    if (before === undefined) continue;
    try {
      await repository.bring([before]);
      return { before, environment, refused: last?.refused ?? [], missing: last?.missing ?? [] };
    } catch (error) {
      // The history was rewritten.
      if (!(error instanceof PipelineError && error.code === 'not-found')) throw error;
    }
  }
  return undefined;
}

/** Records on GitHub which bundles were released, refused or are still missing. */
async function noteAll(
  { inputs, forge, commit }: Push,
  released: readonly BundleRelease[],
  known: Pick<ReleasedNote, 'environment' | 'missing'>,
): Promise<void> {
  const bundles = released.filter(({ findings }) => findings.length === 0);
  const refused = released.filter(({ findings }) => findings.length > 0);
  try {
    const note = { ...known, commit, bundles, refused, link: inputs.posting.link };
    await noteReleased(forge.github, forge.repository, note);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    warning(`cannot record the release: ${plainText(error.message)}`);
  }
}

/** Shows released bundles in the outputs, the summary and the log. Fails the job if some were refused. */
async function showReleased(released: readonly BundleRelease[]): Promise<void> {
  setOutput('released', JSON.stringify(released));
  if (released.length === 0) return;
  const rows = released.map((one) => {
    const image = one.image === undefined ? '' : codeSpan(one.image);
    const cells = [escapedMarkdown(one.package), escapedMarkdown(one.version), image];
    return `| ${cells.join(' | ')} | ${escapedMarkdown(releaseText(one))} |`;
  });
  const table = ['## Bundles', '', '| package | version | image | |', '|---|---|---|---|', ...rows, '', ''];
  await summary.addRaw(table.join('\n')).write();
  for (const { package: name, version, image } of released)
    if (image !== undefined) info(plainText(`released ${name} ${version} as ${image}`));
  const refused = released.flatMap(({ findings }) => findings);
  if (refused.length === 0) return;
  logText(refused.map(findingText).join(''));
  setFailed(`not released: ${plainText(refused[0]?.message ?? '')}`);
}

/** What became of a bundle: why it was refused, else how far it came. */
function releaseText({ findings, commit, proposed }: BundleRelease): string {
  const [first] = findings;
  if (first) return first.message;
  if (commit !== undefined) return `committed as ${commit.slice(0, 12)}`;
  return proposed ? proposalText(proposed) : 'pushed';
}

/** What became of a proposal; it has no number where no pull request was needed. */
function proposalText({ kind, number }: NonNullable<BundleRelease['proposed']>): string {
  return number === undefined ? 'the catalogs already contain it' : `pull request ${number}, ${kind}`;
}
