/** What a push that brings bundles makes of them, before catalogs are published. */
import { info, setFailed, setOutput, summary, warning } from '@actions/core';
import { PipelineError } from '../error.ts';
import type { Repository } from '../git/repository.ts';
import { lastReleased, noteReleased } from '../github/deployments.ts';
import type { Policy } from '../policy/policy.ts';
import { createRegistryClient } from '../registry/client.ts';
import { arrivedBundles } from '../release/arrived.ts';
import type { BundleName } from '../release/bundle-image.ts';
import { code, escaped } from '../report/markdown.ts';
import { findingText, plain } from '../report/text.ts';
import { type BundleRelease, releaseBundles } from '../stages/release-bundles.ts';
import type { Forge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { registriesOf, registryOptions } from './registries.ts';
import { logText } from './say.ts';

export interface Releasing {
  readonly inputs: RunInputs;
  readonly forge: Forge;
  readonly repository: Repository;
  /** Id of the pushed commit. */
  readonly commit: string;
  readonly policy: Policy;
}

/**
 * Releases the bundles that have arrived on a branch.
 *
 * @returns id of the commit to publish: the pushed one, or the last of those that released something on the branch
 * @throws PipelineError as the client, the fetching and the registries
 */
export async function releaseArrived(releasing: Releasing, branch: string): Promise<string> {
  const { inputs, forge, repository, commit, policy } = releasing;
  const before = policy.release && (await beforeOf(releasing));
  if (before === undefined) return commit;
  const { plainHttp } = inputs.publish;
  const internal = [...plainHttp, ...policy.registries.internal];
  const registry = createRegistryClient({ ...registryOptions(inputs), plainHttp, internal });
  const references = registriesOf(inputs);
  try {
    const { github, repository: name } = forge;
    const ports = { github, name, repository, registry, registryFor: references.under };
    const today = inputs.now.toISOString().slice(0, 10);
    const released = await releaseBundles(ports, { branch, before, commit, policy, today });
    await say(released);
    const last = released.findLast((one) => one.commit !== undefined)?.commit ?? commit;
    if (last !== commit) await repository.bring([last]);
    await noteAll(releasing, released);
    return last;
  } finally {
    registry.close();
    references.close();
  }
}

/** The bundles that have arrived and that the policy releases. @throws PipelineError as the client and the fetching */
export async function bundlesToRelease(releasing: Releasing): Promise<BundleName[]> {
  const { repository, commit, policy } = releasing;
  const before = policy.release && (await beforeOf(releasing));
  return before === undefined ? [] : arrivedBundles(repository.objects, { before, after: commit }, policy);
}

/** Id of the commit that bundles are new since, brought; undefined where nobody knows. */
async function beforeOf({ inputs, forge, repository }: Releasing): Promise<string | undefined> {
  const { event } = inputs;
  const pushed = event.kind === 'push' && !/^0+$/.test(event.before) ? event.before : undefined;
  // What a push brought that no run was told of is found by the next.
  for (const id of [await lastReleased(forge.github, forge.repository), pushed]) {
    if (id === undefined) continue;
    try {
      await repository.bring([id]);
      return id;
    } catch (error) {
      // The history was rewritten.
      if (!(error instanceof PipelineError && error.code === 'not-found')) throw error;
    }
  }
  return undefined;
}

async function noteAll(
  { inputs, forge, commit }: Releasing,
  released: readonly BundleRelease[],
): Promise<void> {
  if (released.length === 0) return;
  const bundles = released.map((one) => `${one.package}/${one.version}`);
  try {
    await noteReleased(forge.github, forge.repository, { commit, bundles, link: inputs.says.link });
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    warning(`the release cannot be noted: ${plain(error.message)}`);
  }
}

async function say(released: readonly BundleRelease[]): Promise<void> {
  setOutput('released', JSON.stringify(released));
  if (released.length === 0) return;
  const rows = released.map(({ package: name, version, image = '', findings, proposed, commit }) => {
    const became =
      findings[0]?.message ??
      (commit ? `committed as ${commit.slice(0, 12)}` : proposed ? proposalText(proposed) : 'pushed');
    return `| ${escaped(name)} | ${escaped(version)} | ${image === '' ? '' : code(image)} | ${escaped(became)} |`;
  });
  const table = ['## Bundles', '', '| package | version | image | |', '|---|---|---|---|', ...rows, '', ''];
  await summary.addRaw(table.join('\n')).write();
  for (const { package: name, version, image } of released)
    if (image !== undefined) info(plain(`released ${name} ${version} as ${image}`));
  const refused = released.flatMap(({ findings }) => findings);
  if (refused.length === 0) return;
  logText(refused.map(findingText).join(''));
  setFailed(`not released: ${plain(refused[0]?.message ?? '')}`);
}

function proposalText({ kind, number }: NonNullable<BundleRelease['proposed']>): string {
  return number === undefined ? 'the catalogs have it' : `pull request ${number}, ${kind}`;
}
