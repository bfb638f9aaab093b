/** Tags that moved since they were locked: one pull request for each catalog, with what they stand for now. */
import { catalogUnits } from '../../change/unit.ts';
import { type MovedTag, repinCatalog } from '../../check/proposals/repin.ts';
import { PipelineError } from '../../error.ts';
import type { Policy } from '../../policy/policy.ts';
import { readablePolicyAt } from '../../policy/read-policy.ts';
import type { Registry } from '../../ports.ts';
import { pinsBody } from '../../report/proposal-text.ts';
import type { Drift } from './drift.ts';
import { type Proposal, type Proposed, proposeChange } from './proposal.ts';
import type { ProposalPorts } from './state.ts';

interface DriftPinsPorts extends ProposalPorts {
  /** Asks what a policy allows about references, and nothing else. */
  readonly registryFor: (policy: Policy) => Registry;
}

interface DriftPinsRequest {
  /** The branch whose catalogs are looked at. */
  readonly branch: string;
  /** Id of its tip, which has been brought. */
  readonly commit: string;
  readonly policy: Policy;
  /** Proposes nothing, and reports what moved. */
  readonly dryRun?: boolean;
}

export interface DriftPins {
  /** By catalog. */
  readonly proposed: ReadonlyMap<string, Proposed>;
  /** Tags that moved, and what is not known. */
  readonly drift: readonly Drift[];
}

/**
 * Proposes new pins for every catalog that has a lock, and closes what is not needed any more. One
 * catalog's trouble is not another's.
 *
 * @throws PipelineError as the fetching
 */
export async function proposePins(ports: DriftPinsPorts, request: DriftPinsRequest): Promise<DriftPins> {
  const units = await catalogUnits(ports.repository.objects, request.commit, request.policy.layout);
  const proposed = new Map<string, Proposed>();
  const drift: Drift[] = [];
  for (const catalog of [...new Set([...units.values()].map((unit) => unit.catalog))].sort()) {
    let moved: readonly MovedTag[] = [];
    const make = async (tip: string): Promise<Proposal | undefined> => {
      const made = await proposalAt(ports, tip, catalog);
      moved = made?.moved ?? [];
      return made?.proposal;
    };
    try {
      if (request.dryRun) {
        await make(request.commit);
        drift.push(
          ...moved.map((tag) => movedDrift(tag, catalog, 'run it without dry-run to propose the new pins')),
        );
        continue;
      }
      const { branch: base } = request;
      const one = await proposeChange(ports, { subject: `drift/${catalog}`, base, make });
      if (one.kind !== 'nothing') proposed.set(catalog, one);
      drift.push(...moved.map((tag) => movedDrift(tag, catalog, hintOf(one))));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      const { message, hint = 'try again later' } = error;
      drift.push({ kind: 'unknown', of: catalog, message: `${catalog}: ${message}`, hint });
    }
  }
  return { proposed, drift };
}

/** The change that updates a catalog's pins; undefined if all are up to date. */
async function proposalAt(
  { repository, registryFor }: DriftPinsPorts,
  tip: string,
  catalog: string,
): Promise<{ moved: readonly MovedTag[]; proposal: Proposal } | undefined> {
  await repository.bring([tip]);
  const policy = await readablePolicyAt(repository.objects, tip);
  const ports = { objects: repository.objects, registry: registryFor(policy) };
  const repinned = await repinCatalog(ports, { commit: tip, policy, catalog });
  if (!repinned || repinned.files.size === 0) return undefined;
  const { moved, files } = repinned;
  const what = moved.length === 1 ? '1 tag' : `${moved.length} tags`;
  const title = moved.length === 0 ? `Pin ${catalog}` : `Pin ${catalog}: ${what} moved`;
  return { moved, proposal: { title, body: pinsBody(catalog, repinned), files } };
}

const HINTS: Readonly<Record<Proposed['kind'], string>> = {
  opened: 'merge it, or close it',
  updated: 'merge it, or close it',
  standing: 'merge it, or close it',
  declined:
    'the pull request was closed: run portolan resolve DIR --update --write to update the pins anyway',
  taken: 'its branch has commits of other people: merge or close it',
  closed: 'nothing to do',
  left: 'try again later',
  nothing: 'nothing to do',
};

function hintOf({ kind, number }: Proposed): string {
  return number === undefined ? HINTS[kind] : `pull request ${number}: ${HINTS[kind]}`;
}

function movedDrift({ tag, before, after }: MovedTag, of: string, hint: string): Drift {
  const was = before === undefined ? 'was not locked' : `was ${before}`;
  const message = `${tag} ${was}, it is ${after} now`;
  return { kind: 'tag', of, message, hint };
}
