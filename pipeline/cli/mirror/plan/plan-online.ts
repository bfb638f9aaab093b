/** A plan whose images were asked for at their sources: what cannot be copied is named before the copy. */
import type { Finding } from '../../../../catalog/finding.ts';
import { mappingsOf } from '../../../../catalog/mirror/plan.ts';
import { reachedReadiness } from '../../../../catalog/mirror/report.ts';
import { copyJobs } from '../../../mirror/copy-jobs.ts';
import type { MirrorOutcome } from '../../../mirror/prepare.ts';
import { checkSources } from '../../../mirror/presence.ts';
import type { Terminal } from '../../../terminal.ts';
import type { Invocation } from '../../command.ts';
import { withRegistryClient } from '../../registry-access.ts';

/** Images at a time: as many as a client sends requests to one host by default. */
const PARALLEL = 48;
/** The place of what is in no catalog: the mapping as a whole. */
const NOWHERE = { file: 'mapping.txt', line: 1, column: 1 };

/** The plan with a finding for each image that cannot be copied; the bundles that need one are not ready. */
export async function checkOnline(
  outcome: MirrorOutcome,
  platform: string | undefined,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<MirrorOutcome> {
  return withRegistryClient(invocation, terminal, {}, async (client) => {
    const lines = mappingsOf(outcome.plan).map((mapping) => ({ ...mapping, location: NOWHERE }));
    const { jobs } = await copyJobs(lines, client);
    const bad = await checkSources(jobs, client, PARALLEL);
    const lost = new Set(bad.map(({ job }) => job.destination));
    const there = new Set(
      outcome.report.images.flatMap(({ destination }) => (lost.has(destination) ? [] : [destination])),
    );
    const findings = bad.map(({ job, why, hint }): Finding => {
      const { location, needed } = bundlesNeeding(outcome, job.source);
      const message = `${job.source} ${why}${needed}`;
      return { rule: 'mirror/source', severity: 'error', message, location, ...(hint && { hint }) };
    });
    // An index image that is built later is not in the plan, and not missing either.
    const installable =
      bad.length === 0 ? outcome.report : reachedReadiness(outcome, platform, withSelected(outcome, there));
    return {
      ...outcome,
      findings: [...outcome.findings, ...findings],
      report: { ...outcome.report, ...installable },
    };
  });
}

/** Where images are: those that are there, and the index images of selections, which are built later. */
function withSelected({ report }: MirrorOutcome, there: ReadonlySet<string>): ReadonlySet<string> {
  const selected = report.catalogs.filter((one) => one.selected).map(({ destination }) => destination);
  return new Set([...there, ...selected]);
}

/** Which bundle needs an image, in words, and where it begins; no words where none does. */
function bundlesNeeding(
  { plan, images }: MirrorOutcome,
  source: string,
): { readonly location: Finding['location']; readonly needed: string } {
  const written = new Set(
    plan.placements.filter((placement) => placement.source === source).map((placement) => placement.written),
  );
  const [first, ...more] = images.flatMap(({ bundles }) =>
    bundles.filter(({ references }) => references.some((reference) => written.has(reference))),
  );
  if (!first) return { location: NOWHERE, needed: '' };
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return { location: first.location, needed: ` (needed by ${first.package}/${first.name}${others})` };
}
