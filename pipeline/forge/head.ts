/** The gate of a commit: every open pull request that has it as its head is checked, because they share one status. */
import type { CheckReport } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import { openRemote } from '../git/remote.ts';
import { POLICY_PATH, readPolicy } from '../policy/read-policy.ts';
import type { GateForge, HeadStatus, OpenPull } from './forge.ts';
import { type ForgePorts, type GateRequest, gatePullRequest, governingPolicy, isGoverned } from './gate.ts';
import { CHECKING, pendingStatus } from './status.ts';

/** The open pull requests of one commit. */
export interface Head {
  readonly commit: string;
  readonly pulls: readonly number[];
  /** The branches that they are for. */
  readonly branches: readonly string[];
  /** True where no status `portolan` was set on it before. */
  readonly hasNoStatus?: boolean;
}

/** Which open pull requests are meant. */
export type Selection =
  /** One, and those with the head that it has left. */
  | { readonly kind: 'pull'; readonly number: number; readonly previousHead?: string | undefined }
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'branch'; readonly branch: string }
  | { readonly kind: 'all' };

/** The heads of the selected pull requests, each with all of its open pull requests. */
export function headsOf(open: readonly OpenPull[], selection: Selection): Head[] {
  const isMeant = ({ number, base, head }: OpenPull): boolean => {
    switch (selection.kind) {
      case 'pull':
        return number === selection.number || head.commit === selection.previousHead;
      case 'commit':
        return head.commit === selection.commit;
      case 'branch':
        return base.branch === selection.branch;
      case 'all':
        return true;
    }
  };
  const commits = new Set(open.filter(isMeant).map(({ head }) => head.commit));
  return [...commits].map((commit) => {
    const own = open.filter(({ head }) => head.commit === commit);
    const branches = [...new Set(own.map(({ base }) => base.branch))];
    const hasNoStatus = own.every(({ head }) => head.hasNoStatus);
    return {
      commit,
      pulls: own.map(({ number }) => number),
      branches,
      ...(hasNoStatus ? { hasNoStatus } : {}),
    };
  });
}

/**
 * The heads of which at least one pull request is for a branch that is gated, or whose policy cannot be read.
 *
 * @param tips ids of branch tips that an event names: git then reads the policy, without a request to the forge
 */
export async function gatedHeads(
  ports: Pick<ForgePorts, 'forge' | 'remote' | 'git'>,
  heads: readonly Head[],
  tips: ReadonlyMap<string, string> = new Map(),
): Promise<Head[]> {
  const isGated = new Map<string, boolean>();
  for (const branch of new Set(heads.flatMap(({ branches }) => branches)))
    isGated.set(branch, await isBranchGated(ports, branch, tips.get(branch)));
  return heads.filter(({ branches }) => branches.some((branch) => isGated.get(branch)));
}

/** Reads only the policy if that shows that the branch is gated: until the first status is set, an older one remains. */
async function isBranchGated(
  { forge, remote, git }: Pick<ForgePorts, 'forge' | 'remote' | 'git'>,
  branch: string,
  known: string | undefined,
): Promise<boolean> {
  if (known === undefined && isGoverned(readPolicy(await forge.readFile(branch, POLICY_PATH)).policy, branch))
    return true;
  const repository = openRemote(remote, git);
  try {
    const tip = known ?? (await forge.readTip(branch));
    await repository.bring([tip]);
    return (await governingPolicy(repository, tip, branch)) !== 'not gated';
  } finally {
    await repository.close();
  }
}

/** Sets the status of heads to pending while they are checked, so that no older result remains. */
export async function markPending(
  forge: Pick<GateForge, 'postStatus'>,
  heads: readonly Pick<Head, 'commit' | 'pulls'>[],
): Promise<void> {
  for (const { commit, pulls } of heads) await forge.postStatus(pendingStatus(commit, pulls, CHECKING));
}

/** Checks the pull requests that have a head now; no report if none has it any more. */
export async function gateAgain(
  ports: ForgePorts,
  commit: string,
  request: Omit<GateRequest, 'number'> = {},
): Promise<readonly CheckReport[]> {
  const [head] = headsOf(await ports.forge.readOpen(), { kind: 'commit', commit });
  return head ? gateHead(ports, head, request) : [];
}

/**
 * Checks all pull requests of a head.
 *
 * @returns a report for each open pull request to a gated branch with this head; none if there is nothing to report
 */
export async function gateHead(
  ports: ForgePorts,
  { commit, pulls }: Pick<Head, 'commit' | 'pulls'>,
  request: Omit<GateRequest, 'number'> = {},
): Promise<readonly CheckReport[]> {
  const reports: CheckReport[] = [];
  const ungated: { number: number; branch: string }[] = [];
  for (const number of pulls) {
    const outcome = await gatePullRequest(ports, { ...request, number });
    // A pull request that has another head by now has a run of its own.
    if (outcome.kind === 'checked' && outcome.report.head !== commit) continue;
    if (outcome.kind === 'checked') reports.push(outcome.report);
    // One that is closed may be opened again, and then counts.
    else if (outcome.ungated !== undefined) ungated.push({ number, branch: outcome.ungated });
  }
  if (ungated.length === 0) return reports;
  // `freshnessOf` finds these pull requests with the head, and must know that they were left out.
  return reports.map((report) =>
    report.request ? { ...report, request: { ...report.request, ungated } } : report,
  );
}

/**
 * Writes why a check ended with an error into the status of its heads, if people can mend it. An error of
 * this writing is dropped: the caller reports the first one.
 */
export async function leaveError(
  forge: Pick<GateForge, 'postStatus' | 'readStatuses'>,
  heads: readonly Pick<Head, 'commit' | 'pulls'>[],
  { error, link }: { readonly error: unknown; readonly link: string | undefined },
): Promise<void> {
  if (!(error instanceof PipelineError)) return;
  const why = `the check could not be completed: ${error.message}`;
  for (const head of heads) await leaveReason(forge, head, { why, link }).catch(() => undefined);
}

/**
 * Leaves the status of an unfinished run pending, with the reason, unless another run has set a newer one.
 *
 * @returns the status that it set; undefined if that of another run stays
 */
export async function leaveReason(
  forge: Pick<GateForge, 'postStatus' | 'readStatuses'>,
  { commit, pulls }: Pick<Head, 'commit' | 'pulls'>,
  { why, link }: { readonly why: string; readonly link: string | undefined },
): Promise<HeadStatus | undefined> {
  const [newest] = await forge.readStatuses(commit);
  if (newest && (newest.state !== 'pending' || newest.link !== link)) return undefined;
  const status = pendingStatus(commit, pulls, why);
  await forge.postStatus(status);
  return status;
}
