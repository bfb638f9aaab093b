/**
 * Mode drift: what has a fix becomes a pull request, and the job summary lists everything. Nobody's change caused drift, so the
 * job fails only if something could not be checked.
 */
import { setOutput, summary, warning } from '@actions/core';
import { openRemote } from '../git/remote.ts';
import { type Drift, driftOf } from '../github/proposals/drift.ts';
import { proposePins } from '../github/proposals/drift-pins.ts';
import { scheduledPromotions } from '../github/proposals/promotions.ts';
import { readablePolicyAt } from '../policy/read-policy.ts';
import { codeSpan, escapedMarkdown } from '../report/markdown.ts';
import { plainText } from '../text.ts';
import { defaultTip, openForge } from './forge.ts';
import type { RunInputs } from './inputs.ts';
import { publishingClient, registriesOf } from './registries.ts';

/**
 * Runs the mode `drift`: finds what has drifted, and proposes corrections.
 *
 * @throws PipelineError as the client and the fetching do
 */
export async function findDrift(inputs: RunInputs): Promise<void> {
  const forge = await openForge(inputs);
  const { branch, commit } = await defaultTip(forge);
  const repository = openRemote(forge.remote, forge.git);
  // `references` asks for what catalogs name, as the policy allows.
  const registry = publishingClient(inputs);
  const references = registriesOf(inputs);
  try {
    await repository.bring([commit]);
    const policy = await readablePolicyAt(repository.objects, commit);
    const today = inputs.now.toISOString().slice(0, 10);
    const ports = { github: forge.github, name: forge.repository, repository, registry };
    const drift = await driftOf(ports, { commit, policy, today });
    const pins = await proposePins(
      { ...ports, registryFor: references.under },
      { branch, commit, policy, dryRun: inputs.dryRun },
    );
    // A dry run opens no pull requests, and what promotions could not do comes of opening them.
    const promotions = inputs.dryRun
      ? { proposed: [], drift: [] }
      : await scheduledPromotions(ports, { branch, policy, today });
    const proposed = Object.fromEntries([...pins.proposed, ...promotions.proposed]);
    setOutput('proposed', JSON.stringify(proposed));
    await showDrift([...drift, ...pins.drift, ...promotions.drift]);
  } finally {
    registry.close();
    references.close();
    await repository.close();
  }
}

/** Shows what has drifted as warnings, in the job's summary and as an output. */
async function showDrift(drift: readonly Drift[]): Promise<void> {
  for (const { message, hint } of drift) warning(`${plainText(message)}\n${plainText(hint)}`);
  setOutput('drift', drift.length);
  const rows = drift.map(
    ({ kind, of, message, hint }) =>
      `| ${kind} | ${codeSpan(of)} | ${escapedMarkdown(message)} | ${escapedMarkdown(hint)} |`,
  );
  const table = ['| | of | what | what to do |', '|---|---|---|---|', ...rows];
  const text =
    drift.length === 0
      ? ['## Nothing has drifted']
      : [`## ${drift.length} things have drifted`, '', ...table];
  await summary.addRaw(`${text.join('\n')}\n`).write({ overwrite: true });
}
