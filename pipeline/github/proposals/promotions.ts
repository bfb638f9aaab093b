/** Packages for a new version of the platform, as pull requests: one for each group of owners, or one for all. */
import { compareText } from '../../../catalog/go/text.ts';
import { type Promotion, type Promotions, promotionsOf } from '../../check/proposals/promotion.ts';
import { PipelineError } from '../../error.ts';
import type { Policy } from '../../policy/policy.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import { promotionBody } from '../../report/proposal-text.ts';
import { readTip } from '../pull-request.ts';
import type { Drift } from './drift.ts';
import { branchFor, type Proposal, type Proposed, proposeChange } from './proposal.ts';
import { branchesBelow, type ProposalPorts } from './state.ts';

interface PromotionsRequest {
  /** The branch that the pull requests are for. */
  readonly base: string;
  readonly from: string;
  readonly to: string;
  /** Whether all packages come in one pull request. */
  readonly group: boolean;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
}

interface ProposedPromotions {
  /** As of the newest commit that was looked at. */
  readonly promotions: Promotions;
  /** By group: `all`, `always`, or the owners. */
  readonly proposed: ReadonlyMap<string, Proposed>;
}

/**
 * Proposes what is to be promoted, and closes what no longer is. Called again, it leaves pull requests that say the same.
 *
 * @throws PipelineError as `promotionsOf` and `proposeChange`
 */
export async function proposePromotions(
  ports: ProposalPorts,
  request: PromotionsRequest,
): Promise<ProposedPromotions> {
  const { base, to, group } = request;
  // The branch may move meanwhile: each proposal is for its newest commit.
  const known = new Map<string, Promise<Promotions>>();
  const at = (tip: string): Promise<Promotions> => {
    const found = known.get(tip) ?? promotionsAt(ports, request, tip);
    known.set(tip, found);
    return found;
  };
  const promotions = await at(await readTip(ports.github, ports.name, base));
  const keys = new Set(promotions.promoted.map((promotion) => groupOf(promotion, group)));
  const subject = (key: string): string => `promote/${to}/${key}`;
  const prefix = await branchFor(ports, { subject: subject(''), base });
  const open = (await branchesBelow(ports, prefix)).map((branch) => branch.slice(prefix.length));
  const proposed = new Map<string, Proposed>();
  for (const key of [...new Set([...keys, ...open])].sort(compareText)) {
    const make = async (tip: string): Promise<Proposal | undefined> => {
      const { promoted, findings } = await at(tip);
      const own = promoted.filter((promotion) => groupOf(promotion, group) === key);
      if (own.length === 0) return undefined;
      const names = new Set(own.map((promotion) => promotion.package));
      const about = findings.filter(({ package: name }) => name !== undefined && names.has(name));
      return {
        title: titleOf(own, request),
        body: promotionBody({ ...request, promoted: own, findings: about }),
        files: new Map(own.flatMap(({ files }) => [...files])),
      };
    };
    const one = await proposeChange(ports, { subject: subject(key), base, make });
    if (one.kind !== 'nothing') proposed.set(key, one);
  }
  return { promotions, proposed };
}

interface ScheduledPromotions {
  /** By branch's subject: `promote/v4.22/alice`. */
  readonly proposed: ReadonlyMap<string, Proposed>;
  /** That it is not known, and why. */
  readonly drift: readonly Drift[];
}

/** Proposes the promotions that the policy schedules. A PipelineError of one is part of the result; others are thrown. */
export async function scheduledPromotions(
  ports: ProposalPorts,
  {
    branch: base,
    policy: { promotion },
    today,
  }: { readonly branch: string; readonly policy: Policy; readonly today: string },
): Promise<ScheduledPromotions> {
  if (!promotion) return { proposed: new Map(), drift: [] };
  const { to } = promotion;
  try {
    const { proposed } = await proposePromotions(ports, { ...promotion, base, today });
    return { proposed: new Map([...proposed].map(([key, one]) => [`promote/${to}/${key}`, one])), drift: [] };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    const { message, hint = 'try again later' } = error;
    return {
      proposed: new Map(),
      drift: [{ kind: 'unknown', of: to, message: `promotion: ${message}`, hint }],
    };
  }
}

/** What is to be promoted as of a commit, by the policy that it has. */
async function promotionsAt(
  { repository }: ProposalPorts,
  request: PromotionsRequest,
  tip: string,
): Promise<Promotions> {
  await repository.bring([tip]);
  const policy = await readablePolicyAt(repository.objects, tip);
  return promotionsOf(repository.objects, { ...request, commit: tip, policy });
}

/** The group of a package, as one part of a branch's name: the `/` in a team's name becomes a dot. */
function groupOf({ strategy, owners }: Promotion, areTogether: boolean): string {
  if (areTogether) return 'all';
  if (strategy === 'always') return 'always';
  return owners.length === 0
    ? 'no-owner'
    : owners.map((owner) => owner.replaceAll('/', '.').replaceAll(/[^\w.-]+/g, '-')).join('+');
}

function titleOf(promoted: readonly Promotion[], { from, to }: PromotionsRequest): string {
  const [first] = promoted;
  const what = promoted.length === 1 && first ? first.package : `${promoted.length} packages`;
  return `Promote ${what} from ${from} to ${to}`;
}
