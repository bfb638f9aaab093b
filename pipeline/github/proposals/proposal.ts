/**
 * Changes that nobody typed, as pull requests: one branch and at most one open pull request for each
 * subject. The same change proposed again is the same pull request; another one is a further commit on its
 * branch, never a forced push; when nothing is left to change it is closed. What people have added to the
 * branch makes it theirs: then it is left alone.
 */
import { createHash } from 'node:crypto';
import { type ErrorCode, PipelineError } from '../../error.ts';
import { dataOf } from '../client.ts';
import { type Content, type Placing, placingsOf, writeCommit } from '../git-data.ts';
import { readDefaultBranch, readTip } from '../pull-request.ts';
import {
  type AtGitHub,
  keyAt,
  makesChange,
  type ProposalPorts,
  type ProposalState,
  type Pull,
  readPulls,
  readState,
  TRAILER,
} from './state.ts';

export interface Proposal {
  readonly title: string;
  /** Markdown in which everything that others wrote is escaped. */
  readonly body: string;
  readonly files: ReadonlyMap<string, Content>;
}

interface ProposalRequest {
  /** The subject of the proposal, such as `drift/v4.20`, from which its branch is named. */
  readonly subject: string;
  /** The branch that it is to be merged into. */
  readonly base: string;
  /**
   * Makes the change on top of a commit, and fetches the commit. Undefined if nothing is to change, `leave-unchanged` if
   * Portolan cannot compute the change. Called again if the branch moves meanwhile.
   */
  readonly make: (tip: string) => Promise<Proposal | 'leave-unchanged' | undefined>;
  /** Whether to propose a change again that somebody closed unmerged. */
  readonly again?: boolean;
}

export interface Proposed {
  readonly kind:
    | 'opened'
    | 'updated'
    /** Open already, with this very change. */
    | 'standing'
    /** There is nothing left to change. */
    | 'closed'
    /** Somebody closed a pull request with the same change. */
    | 'declined'
    /** People have put commits on the branch. */
    | 'taken'
    /** It was not looked at. */
    | 'left'
    /** There is nothing to change and no pull request. */
    | 'nothing';
  readonly branch: string;
  /** Number of the pull request; undefined if there is none. */
  readonly number: number | undefined;
  readonly url: string | undefined;
}

/** How often a change is made if the branch moves each time. */
const TRIES = 4;

/**
 * Proposes a change, or takes back what is not to change any more.
 *
 * @throws PipelineError `conflict` (retryable) for a branch that keeps moving, `denied` where no pull request
 *   may be opened, and as the client and `make`
 */
export async function proposeChange(ports: ProposalPorts, request: ProposalRequest): Promise<Proposed> {
  const branch = await branchFor(ports, request);
  for (let tries = 0; tries < TRIES; tries++) {
    const tip = await readTip(ports.github, ports.name, request.base);
    const proposal = await request.make(tip);
    if (proposal === 'leave-unchanged') return outcome('left', branch, undefined);
    const placings = proposal ? await placingsOf(ports.repository.objects, tip, proposal.files) : [];
    const standing = await readState(ports, { branch, base: request.base });
    const done = await withPermissionHint(
      proposal && placings.length > 0
        ? offerChange(ports, { request, branch, tip, proposal, placings, key: keyOf(placings) }, standing)
        : withdrawProposal(ports, branch, standing),
    );
    if (done) return done;
  }
  throw branchKeepsMoving(request.base);
}

/** Says what a token needs that may not write. */
async function withPermissionHint<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'denied') throw error;
    throw new PipelineError('denied', error.message, { cause: error, hint: MAY_OPEN });
  }
}

/**
 * Commits a change onto the branch itself, on top of its newest commit.
 *
 * @returns id of the commit; undefined when nothing is to change, `protected` where the branch takes no pushes
 * @throws PipelineError `conflict` (retryable) for a branch that keeps moving, and as the client and `make`
 */
export async function commitOnto(
  ports: ProposalPorts,
  request: Omit<ProposalRequest, 'subject' | 'again'>,
): Promise<string | 'protected' | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const tip = await readTip(ports.github, ports.name, request.base);
    const made = await request.make(tip);
    if (made === undefined || made === 'leave-unchanged') return undefined;
    const placings = await placingsOf(ports.repository.objects, tip, made.files);
    if (placings.length === 0) return undefined;
    const { github, name } = ports;
    const commit = await writeCommit(github, name, {
      base: tip,
      parents: [tip],
      placings,
      message: made.title,
    });
    const ref = { ...name, ref: `heads/${request.base}`, sha: commit, force: false };
    try {
      if (await unlessMoved(github.rest.git.updateRef(ref))) return commit;
    } catch (error) {
      if (!(error instanceof PipelineError) || !REFUSALS.has(error.code)) throw error;
      return 'protected';
    }
  }
  throw branchKeepsMoving(request.base);
}

/** Codes of errors with which GitHub refuses a push that a branch rule forbids. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['denied', 'usage', 'conflict']);

function branchKeepsMoving(branch: string): PipelineError {
  return new PipelineError('conflict', `gave up: ${branch} keeps getting new commits`, { retryable: true });
}

/**
 * The branch of a subject's proposal; what is for another branch than the default one has that in its name.
 *
 * @throws PipelineError as the client
 */
export async function branchFor(
  { github, name }: AtGitHub,
  { subject, base }: Pick<ProposalRequest, 'subject' | 'base'>,
): Promise<string> {
  const isDefault = base === (await readDefaultBranch(github, name));
  // `~` is not allowed in a name, so `gitName` adds a digest: the branches `a/b` and `a-b` have proposals of their own.
  return branchOf(isDefault ? subject : `onto/${gitName(base.replaceAll('/', '~'))}/${gitName(subject)}`);
}

/** A branch's name that git takes whatever the subject is. */
export function branchOf(subject: string): string {
  return `portolan/${gitName(subject)}`;
}

/**
 * A text as a part of a branch's name, such as `a-.b-DIGEST` for `a..b`. Git refuses dots that are doubled, at the end, or
 * where a part begins, and `.lock` at the end of one. A digest keeps apart what would then be called the same.
 */
function gitName(text: string): string {
  const plain = text.replaceAll(/[^\w.+/-]|\.(?![A-Za-z0-9_-])|(?<=\/)\.|\.(?=lock(?:\/|$))/g, '-');
  return plain === text ? plain : `${plain}-${sha256(text).slice(0, 8)}`;
}

/**
 * Identifies a change by its paths and their files before and after, so the same change has the same key on a newer base.
 */
function keyOf(placings: readonly Placing[]): string {
  const text = ({ path, before, after }: Placing): string =>
    JSON.stringify([path, before?.mode, before?.id, after?.mode, after?.id]);
  return sha256(placings.map(text).join('\n'));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface Offer {
  readonly request: ProposalRequest;
  readonly branch: string;
  readonly tip: string;
  readonly proposal: Proposal;
  readonly placings: readonly Placing[];
  readonly key: string;
}

/**
 * Opens or updates the pull request of a change.
 *
 * @returns undefined if the branch moved meanwhile, so that the change must be made again
 */
async function offerChange(
  ports: ProposalPorts,
  wanted: Offer,
  { commit, key, open }: ProposalState,
): Promise<Proposed | undefined> {
  const { branch, proposal } = wanted;
  if (commit !== undefined && key === undefined) return outcome('taken', branch, open);
  if (open) {
    const { request, placings } = wanted;
    const isMade = key === wanted.key && (await makesChange(ports, { base: request.base, commit }, placings));
    if (!isMade && !(await pushOnto(ports, wanted, commit))) return undefined;
    await describePull(ports, open, proposal);
    return outcome(isMade ? 'standing' : 'updated', branch, open);
  }
  const declined = wanted.request.again ? undefined : await declinedOf(ports, wanted);
  if (declined) return outcome('declined', branch, declined);
  // A run that ended early has left the branch, or somebody pushed it: what is opened here is pushed here.
  if (commit !== undefined) await removeBranch(ports, branch);
  if (!(await pushOnto(ports, wanted, undefined))) return undefined;
  return openPull(ports, wanted);
}

/** Writes the change as a commit to its branch. @returns false if that branch, or the one that it is for, has moved */
async function pushOnto(
  ports: ProposalPorts,
  { request, branch, tip, proposal, placings, key }: Offer,
  onto: string | undefined,
): Promise<boolean> {
  const { github, name } = ports;
  const message = `${proposal.title}\n\n${TRAILER}: ${key}\n`;
  // With the tip as a parent the branch moves forward only, and shows the change against this tip.
  const parents = onto === undefined ? [tip] : [onto, tip];
  const commit = await writeCommit(github, name, { base: tip, parents, placings, message });
  if ((await readTip(github, name, request.base)) !== tip) return false;
  const ref = `heads/${branch}`;
  return unlessMoved(
    onto === undefined
      ? github.rest.git.createRef({ ...name, ref: `refs/${ref}`, sha: commit })
      : github.rest.git.updateRef({
          ...name,
          ref,
          sha: commit,
          force: false,
        }),
  );
}

/** Whether GitHub took it; false where somebody else was first. */
async function unlessMoved(asked: Promise<{ readonly data: unknown }>): Promise<boolean> {
  try {
    await dataOf(asked);
    return true;
  } catch (error) {
    // In GitHub's words: "Update is not a fast forward", "Reference already exists".
    if (error instanceof PipelineError && /fast.forward|already exists/i.test(error.message)) return false;
    throw error;
  }
}

/** Opens a pull request; undefined if another run has just opened it. */
async function openPull(ports: ProposalPorts, wanted: Offer): Promise<Proposed | undefined> {
  const { github, name } = ports;
  const { request, branch, proposal } = wanted;
  const { title, body } = proposal;
  const asked = { ...name, head: branch, base: request.base, title, body, maintainer_can_modify: false };
  try {
    const made = await dataOf(github.rest.pulls.create(asked));
    return outcome('opened', branch, { number: made.number, url: made.html_url });
  } catch (error) {
    // Another run created it first: continue with that one.
    if (error instanceof PipelineError && /already exists/i.test(error.message)) return undefined;
    throw error;
  }
}

const MAY_OPEN =
  'grant the job contents: write and pull-requests: write, and allow Actions to create pull requests (repository settings, Actions, General)';

/** The pull request that somebody closed with the very same change. */
async function declinedOf(ports: ProposalPorts, { branch, request, key }: Offer): Promise<Pull | undefined> {
  const [last] = await readPulls(ports, { branch, base: request.base }, 'closed');
  return last && !last.merged && (await keyAt(ports, last.head)) === key ? last : undefined;
}

async function describePull(ports: ProposalPorts, open: Pull, { title, body }: Proposal): Promise<void> {
  // GitHub ends lines as browsers do.
  if (open.title === title && open.body.replaceAll('\r\n', '\n') === body) return;
  const { github, name } = ports;
  const changed = { ...name, pull_number: open.number, title, body };
  await dataOf(github.rest.pulls.update(changed));
}

const NOTHING_LEFT = 'Nothing left to change: the branch already has this change, or it is no longer needed.';

/**
 * Closes a pull request whose change is no longer needed, and removes its branch. If others made commits on the branch, both
 * stay as they are.
 */
async function withdrawProposal(
  ports: ProposalPorts,
  branch: string,
  { commit, key, open }: ProposalState,
): Promise<Proposed> {
  const { github, name } = ports;
  const hasOthersCommits = commit !== undefined && key === undefined;
  if (hasOthersCommits) return outcome('taken', branch, open);
  if (open) {
    const at = { ...name, issue_number: open.number, body: NOTHING_LEFT };
    await dataOf(github.rest.issues.createComment(at));
    const closed = { ...name, pull_number: open.number, state: 'closed' } as const;
    await dataOf(github.rest.pulls.update(closed));
  }
  if (commit !== undefined) await removeBranch(ports, branch);
  return outcome(open ? 'closed' : 'nothing', branch, open);
}

async function removeBranch({ github, name }: ProposalPorts, branch: string): Promise<void> {
  const ref = { ...name, ref: `heads/${branch}` };
  await dataOf(github.rest.git.deleteRef(ref));
}

function outcome(
  kind: Proposed['kind'],
  branch: string,
  pull: { readonly number: number; readonly url: string } | undefined,
): Proposed {
  return { kind, branch, number: pull?.number, url: pull?.url };
}
