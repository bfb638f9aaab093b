/** The gate in the functions: what a pull request's events ask for, checked and reported as the Action does. */
import { clientsUnder } from '../pipeline/catalogs/references/client.ts';
import type { Checker } from '../pipeline/check/confined/confined-check.ts';
import type { CheckReport } from '../pipeline/check/report.ts';
import { PipelineError } from '../pipeline/error.ts';
import { concernedHeads } from '../pipeline/forge/dependents.ts';
import type { GateForge, OpenPull, Reported } from '../pipeline/forge/forge.ts';
import type { ForgePorts, GateOutcome, MergeGroup } from '../pipeline/forge/gate.ts';
import {
  gateAgain,
  gatedHeads,
  gateHead,
  type Head,
  headsOf,
  leaveError,
  markPending,
  type Selection,
} from '../pipeline/forge/head.ts';
import { isForeign, setStatus, withoutStatus } from '../pipeline/forge/status.ts';
import { authorizationHeader, type GitSettings } from '../pipeline/git/process.ts';
import type { Store } from '../pipeline/oci/image/build-cache.ts';
import type { ClientOptions } from '../pipeline/oci/registry/client.ts';
import type { Source } from './receive.ts';

/** Errors that the same request would meet again; any other may pass. */
const REFUSED: ReadonlySet<string> = new Set(['denied', 'usage']);

/** Whether an error is a refusal, which another try would meet again. */
function isRefused(error: unknown): error is PipelineError {
  return error instanceof PipelineError && REFUSED.has(error.code);
}

/** Where a pull request is, and how what it brings is looked up. */
export interface GateRequest {
  readonly forge: GateForge;
  readonly source: Pick<Source, 'url'>;
  /** Fetches the repository. */
  readonly token: string;
  readonly git: GitSettings;
  /** Checks where a hang or a crash ends nothing else. */
  readonly check?: Checker | undefined;
  /** How registries are asked; which of them, the base branch's policy says. */
  readonly registries: ClientOptions;
  /** Keeps what released images have, by their digests. */
  readonly cache?: Store;
  /** Checks a group of a merge queue; undefined where the forge has none. */
  readonly gateGroup?: (ports: ForgePorts, group: MergeGroup) => Promise<GateOutcome>;
  readonly now: Date;
  readonly log: (line: string) => void;
}

/** What a message asks for: open pull requests, those that a push or a status concerns, or a group of a merge queue. */
export type GateAsked =
  | { readonly kind: 'selected'; readonly selection: Selection }
  | { readonly kind: 'moved'; readonly branch: string; readonly before: string | undefined }
  /** Somebody has set the status of a commit. */
  | { readonly kind: 'set'; readonly commit: string }
  | { readonly kind: 'group'; readonly group: MergeGroup };

/** Checks one pull request, with all others that have its head, and gives its report. */
export async function handleGate(number: number, request: GateRequest): Promise<GateOutcome> {
  const reports = await handleGates({ kind: 'selected', selection: { kind: 'pull', number } }, request);
  const report = reports.find((one) => one.request?.number === number);
  return report
    ? { kind: 'checked', report }
    : { kind: 'skipped', why: `pull request ${number} is closed, not gated, or has changed` };
}

/**
 * Checks open pull requests as they are now, and says so. Their statuses are pending from the beginning, and stay so with
 * the reason where a check cannot be completed.
 *
 * @returns the reports that hold
 * @throws PipelineError as the forge, after all of them: the message then comes again, and says the same
 */
export async function handleGates(asked: GateAsked, request: GateRequest): Promise<readonly CheckReport[]> {
  const { forge, source, token, git, now, log } = request;
  const clients = clientsUnder(request.registries);
  try {
    const ports: ForgePorts = {
      forge,
      remote: { url: source.url, header: authorizationHeader(token) },
      git,
      check: request.check,
      registryFor: clients.under,
      ...(request.cache ? { cache: request.cache } : {}),
      today: now.toISOString().slice(0, 10),
    };
    if (asked.kind === 'group') return await checkGroup(ports, request, asked.group);
    const heads = await headsFor(ports, asked);
    if (heads.length === 0) log(`skipped: ${nothingText(asked)}`);
    // Where no status can be set, the comment says so, after the check.
    for (const head of heads) await unlessRefused(log, 'the status', () => markPending(forge, [head]));
    return await checkHeads(ports, heads, log);
  } finally {
    clients.close();
  }
}

/**
 * The heads that an event asks to check. After a push, these are the pull requests for the branch that it concerns, and
 * those whose head it was.
 */
async function headsFor(
  ports: ForgePorts,
  asked: Exclude<GateAsked, { kind: 'group' }>,
): Promise<readonly Head[]> {
  const { forge } = ports;
  // A status that Portolan set itself would otherwise ask for another check, without end.
  if (asked.kind === 'set' && !(await isForeign(forge, asked.commit))) return [];
  const open = await forge.readOpen();
  if (asked.kind === 'set') return gatedHeads(ports, headsOf(open, { kind: 'commit', commit: asked.commit }));
  if (asked.kind === 'selected') return gatedHeads(ports, await selectedHeads(ports, open, asked.selection));
  const { branch, before } = asked;
  const headsForBranch = await gatedHeads(ports, headsOf(open, { kind: 'branch', branch }));
  // Without pull requests for it, nothing has to be known of the branch.
  const concerned =
    headsForBranch.length === 0
      ? headsForBranch
      : await concernedHeads(ports, headsForBranch, { branch, before, after: await forge.readTip(branch) });
  // The branch may be a pull request's own: its push took the pull request away from `before`. Others with that head no
  // longer wait for it.
  const previousHeads = before === undefined ? [] : headsOf(open, { kind: 'commit', commit: before });
  const isNew = ({ commit }: Head) => !concerned.some((head) => head.commit === commit);
  return [...concerned, ...(await gatedHeads(ports, previousHeads.filter(isNew)))];
}

/**
 * The heads of the selected pull requests. A closed one has none among the open ones: those with the same commit are checked
 * again then, because their status counted the closed one.
 */
async function selectedHeads(
  { forge }: ForgePorts,
  open: readonly OpenPull[],
  selection: Selection,
): Promise<readonly Head[]> {
  const heads = headsOf(open, selection);
  // Where no pull request is open, none can share the commit of the closed one.
  if (heads.length > 0 || open.length === 0 || selection.kind !== 'pull') return heads;
  const { head } = await forge.readPull(selection.number);
  return headsOf(open, { kind: 'commit', commit: head.commit });
}

/** Checks heads one after the other. A head that fails does not stop the others. @throws the first error, once all are tried */
async function checkHeads(
  ports: ForgePorts,
  heads: readonly Head[],
  log: (line: string) => void,
): Promise<readonly CheckReport[]> {
  const all: CheckReport[] = [];
  const errors: unknown[] = [];
  for (const head of heads) {
    try {
      all.push(...(await checkHead(ports, head, log)));
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return all;
}

/** Checks a merge group and sets the status of its commit. No report if merge groups are not checked here. */
async function checkGroup(
  ports: ForgePorts,
  { gateGroup, log }: GateRequest,
  group: MergeGroup,
): Promise<readonly CheckReport[]> {
  const head = { commit: group.head, pulls: [], branches: [group.branch] };
  try {
    // What nobody checks has no status: a pending one would stay for ever.
    const gated = await gatedHeads(ports, [head], new Map([[group.branch, group.base]]));
    if (!gateGroup || gated.length === 0) {
      log(`skipped: no gate checks merge groups for ${group.branch}`);
      return [];
    }
    await markPending(ports.forge, gated);
    const outcome = await gateGroup(ports, group);
    // A group that changes meanwhile is not checked again: its status stays pending until an event about the new one.
    if (outcome.kind === 'checked') return await setStatus(ports.forge, [outcome.report], async () => []);
    log(`skipped: ${outcome.why}`);
    return [];
  } catch (error) {
    await leaveError(ports.forge, [head], { error, link: undefined });
    throw error;
  }
}

/** Why no pull request is checked, for the log. */
function nothingText(asked: Exclude<GateAsked, { kind: 'group' }>): string {
  // Portolan's own, or one that says the same.
  if (asked.kind === 'set') return `the status of ${asked.commit} is the one that was found`;
  const about =
    asked.kind === 'selected' ? selectionText(asked.selection) : `is concerned by a push to ${asked.branch}`;
  return `no open pull request to a gated branch ${about}`;
}

/** What the pull requests of a selection have in common, as the end of a sentence about one. */
function selectionText(selection: Selection): string {
  switch (selection.kind) {
    case 'pull':
      return `has the number ${selection.number}`;
    case 'commit':
      return `has the head ${selection.commit}`;
    case 'branch':
      return `is for ${selection.branch}`;
    case 'all':
      return 'exists';
  }
}

/** Checks the pull requests of one head, sets the status and posts the reports. If that fails, the status says why. */
async function checkHead(
  ports: ForgePorts,
  head: Head,
  log: (line: string) => void,
): Promise<readonly CheckReport[]> {
  const { forge } = ports;
  let checked: readonly CheckReport[] = [];
  const checkAgain = async () => {
    checked = await gateAgain(ports, head.commit);
    return checked;
  };
  try {
    checked = await gateHead(ports, head);
    const reports = await setStatus(forge, checked, checkAgain);
    for (const report of reports) await postReport(forge, report, log);
    return reports;
  } catch (error) {
    // The status cannot be set: the comment is all that people see.
    if (isRefused(error))
      for (const report of checked) await postReport(forge, withoutStatus(report, error.message), log);
    await leaveError(forge, [head], { error, link: undefined });
    throw error;
  }
}

/**
 * Posts the findings and the comment of a report. People are involved only by the latest report: an older one
 * may name the wrong ones.
 */
async function postReport(forge: GateForge, report: CheckReport, log: (line: string) => void): Promise<void> {
  const { request } = report;
  if (!request) return;
  const about: Reported = { number: request.number, report };
  const attempt = (what: string, act: () => Promise<void>): Promise<void> => unlessRefused(log, what, act);
  await attempt('the findings', () => forge.postFindings(about));
  // Stays so where the comment is refused: then nothing says that a later report exists.
  let isCurrent = true;
  await attempt('the comment', async () => {
    isCurrent = await forge.postComment(about);
  });
  if (isCurrent) await forge.involve?.(about, { attempt, info: log, warning: log });
}

/** Does something, and only logs a refusal: an App without that right still gates by the status. */
async function unlessRefused(
  log: (line: string) => void,
  what: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isRefused(error)) throw error;
    log(`cannot write ${what}: ${error.message}`);
  }
}
