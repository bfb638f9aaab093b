/** An advisory as a pull request: the edit of every catalog on the branch's newest commit, with the proof in its text. */
import { type AdvisoryPlans, plansOf } from '../../check/advisories/advisories.ts';
import { type TemplatePlan, templatePlans } from '../../check/advisories/advisory-templates.ts';
import { PipelineError } from '../../error.ts';
import { openHistory } from '../../forge/history.ts';
import { entryAt } from '../../git/tree.ts';
import { advisoryPath, readAdvisory, type StoredAdvisory } from '../../policy/advisories.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import { advisoryBody } from '../../report/advisory-text.ts';
import { gitHubForge } from '../forge.ts';
import type { Content } from '../git-data.ts';
import { type Proposed, proposeChange } from './proposal.ts';
import type { ProposalPorts } from './state.ts';

interface AdvisoryProposalRequest {
  readonly id: string;
  /** Bytes of the advisory, which become part of the change; undefined for one that the branch has. */
  readonly file: Uint8Array | undefined;
  /** The branch that the pull request is for. */
  readonly base: string;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
}

export interface ProposedAdvisory {
  readonly plans: AdvisoryPlans;
  readonly templates: readonly TemplatePlan[];
  /** The pull request. An open one stays unchanged if a catalog cannot be edited. */
  readonly proposed: Proposed;
}

/**
 * Proposes an advisory's changes. Each advisory has one pull request, which is closed when nothing is left to change.
 *
 * @param ports nothing needs to have been brought into the repository
 * @throws PipelineError `usage` for an advisory that is not there or has defects, and as `plansOf` and `proposeChange`
 */
export async function proposeAdvisory(
  ports: ProposalPorts,
  request: AdvisoryProposalRequest,
): Promise<ProposedAdvisory> {
  let plans: AdvisoryPlans = { catalogs: [], unread: [] };
  let templates: readonly TemplatePlan[] = [];
  const proposed = await proposeChange(ports, {
    subject: `advisory/${request.id}`,
    base: request.base,
    again: true,
    make: async (tip) => {
      const made = await madeAt(ports, request, tip);
      plans = made.plans;
      templates = made.templates;
      const { catalogs } = plans;
      if (catalogs.some(({ refused, unaccepted }) => refused !== undefined || unaccepted.length > 0)) {
        return 'leave-unchanged';
      }
      const edits = catalogs.flatMap(({ files }) => [...files]);
      if (edits.length === 0) return undefined;
      const files = new Map<string, Content>(
        edits.map(([path, text]) => [path, text === undefined ? undefined : Buffer.from(text)]),
      );
      for (const { path, text } of templates) if (text !== undefined) files.set(path, Buffer.from(text));
      if (request.file) files.set(advisoryPath(request.id), request.file);
      const { advisory } = made;
      const title = `Advisory ${request.id}: ${advisory.action} ${advisory.package} ${advisory.versions.join(', ')}`;
      return { title, body: advisoryBody(advisory, catalogs, templates), files };
    },
  });
  return { plans, templates, proposed };
}

interface PlannedBranch {
  readonly advisory: StoredAdvisory;
  readonly plans: AdvisoryPlans;
  readonly templates: readonly TemplatePlan[];
}

/**
 * An advisory and what it changes on top of a commit.
 *
 * @throws PipelineError `usage` if the advisory or the policy cannot be read
 */
async function madeAt(
  { github, name, repository }: ProposalPorts,
  { id, file, today }: AdvisoryProposalRequest,
  tip: string,
): Promise<PlannedBranch> {
  await repository.bringHistory([tip]);
  await repository.bring([tip]);
  const policy = await readablePolicyAt(repository.objects, tip);
  const path = advisoryPath(id);
  const entry = file ? undefined : await entryAt(repository.objects, tip, path);
  const bytes = file ?? (entry && (await repository.objects.read(entry.id, MOST_BYTES)).bytes);
  if (!bytes) throw new PipelineError('usage', `there is no ${path}, here or on the branch`);
  const { advisory, findings } = readAdvisory(path, bytes);
  if (!advisory) throw new PipelineError('usage', `cannot read ${path}: ${findings[0]?.message ?? ''}`);
  const forge = gitHubForge({ github, repository: name });
  const { of: historyOf } = openHistory({ forge, git: repository }, tip);
  const asked = { commit: tip, policy, advisory, today, historyOf };
  const plans = await plansOf(repository, asked);
  return { advisory, plans, templates: await templatePlans(repository, asked, plans.catalogs) };
}

/** Largest advisory that is read, in bytes. */
const MOST_BYTES = 256 * 1024;
