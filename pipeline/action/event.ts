/**
 * Events of GitHub, as far as they matter here. Of a pull request an event says only which
 * one it is and who pushed: everything else is asked for when it is needed.
 */
import { isObject } from '../../catalog/go/shape.ts';
import { PipelineError } from '../error.ts';
import { STATUS_CONTEXT } from '../forge/marks.ts';
import { isObjectId } from '../git/objects.ts';
import { commandIn } from '../github/commands.ts';
import { canChangeResult, headBefore } from '../github/webhook.ts';
import type { Person } from '../policy/identity.ts';
import type { Question } from '../report/answer.ts';

export type Event =
  | PullRequestEvent
  /** A merge queue asks for a check of `head`, which it would merge to `branch`. */
  | { readonly kind: 'group'; readonly base: string; readonly head: string; readonly branch: string }
  /** Somebody asks for another look. */
  | { readonly kind: 'recheck'; readonly number: number; readonly question?: Question }
  /** A workflow that has no rights of its own says that something happened at a commit. */
  | { readonly kind: 'commit signal'; readonly commit: string }
  /** Somebody has set the status of a commit: Portolan itself, or somebody in its name. */
  | { readonly kind: 'status'; readonly commit: string }
  | { readonly kind: 'push'; readonly branch: string; readonly commit: string; readonly before: string }
  /** The branch has moved, and nothing else says so: a workflow's own merge starts no workflow. */
  | { readonly kind: 'moved'; readonly branch: string; readonly before: string; readonly commit: string }
  /** A schedule, or somebody who started the workflow by hand. */
  | { readonly kind: 'clock' }
  /** Nothing is to be done; `why` is for the log. */
  | { readonly kind: 'none'; readonly why: string };

export interface PullRequestEvent {
  readonly kind: 'pull request';
  readonly number: number;
  /** As GitHub calls it: `opened`, `synchronize`, `closed` …; empty where the payload has none. */
  readonly action: string;
  /** Ids of commits. */
  readonly base: string;
  readonly head: string;
  /** Id of the head that a push took it away from; others may still have it. */
  readonly previousHead: string | undefined;
  /** The branch that it is for. */
  readonly branch: string;
  readonly author: Person;
  /** Who pushed the head, where the event says so; whoever opens a pull request may do it over another's branch. */
  readonly pusher: Person | undefined;
  readonly draft: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the payload of an event.
 *
 * @param name as GitHub calls it: `pull_request_target`, `push` …
 * @throws PipelineError `bad-answer` for a payload that lacks what its event must have
 */
export function eventOf(name: string, payload: Json): Event {
  switch (name) {
    case 'pull_request':
    case 'pull_request_target':
    case 'pull_request_review':
      return canChangeResult(payload)
        ? pullRequestEvent(payload)
        : { kind: 'none', why: 'the event changes nothing that a check depends on' };
    case 'merge_group':
      return groupEvent(payload);
    case 'issue_comment':
      return commentEvent(payload);
    case 'workflow_run':
    case 'check_run':
      return { kind: 'commit signal', commit: commitAt(objectAt(payload, name), 'head_sha') };
    case 'status':
      return payload['context'] === STATUS_CONTEXT
        ? { kind: 'status', commit: commitAt(payload, 'sha') }
        : { kind: 'none', why: 'the status is another one' };
    case 'repository_dispatch':
      return branchMovedEvent(payload);
    case 'push':
      return pushEvent(payload);
    case 'schedule':
    case 'workflow_dispatch':
      return { kind: 'clock' };
    default:
      return { kind: 'none', why: `nothing to do for the event ${JSON.stringify(name)}` };
  }
}

/** What the Action needs of a pull request's event. @throws PipelineError for a field that is missing */
function pullRequestEvent(payload: Json): PullRequestEvent {
  const request = objectAt(payload, 'pull_request');
  const action = payload['action'];
  return {
    kind: 'pull request',
    number: numberIn(request),
    action: typeof action === 'string' ? action : '',
    base: commitAt(objectAt(request, 'base'), 'sha'),
    head: commitAt(objectAt(request, 'head'), 'sha'),
    previousHead: headBefore(payload),
    branch: textAt(objectAt(request, 'base'), 'ref'),
    author: personAt(request, 'user') ?? missing('pull_request.user'),
    pusher: pusherIn(payload),
    draft: request['draft'] === true,
  };
}

/**
 * Who pushed the head, as far as the event says it: whoever caused a push, or opened a pull request from their own fork. Others
 * may open one from a branch that somebody else pushed, and so may a bot.
 */
function pusherIn(payload: Json): Person | undefined {
  const sender = personAt(payload, 'sender');
  if (payload['action'] === 'synchronize') return sender;
  if (payload['action'] !== 'opened' || sender?.bot) return undefined;
  const request = objectAt(payload, 'pull_request');
  const [head, base] = [objectAt(request, 'head')['repo'], objectAt(request, 'base')['repo']];
  // Only its owner usually pushes to a personal fork.
  const isFork = isObject(head) && isObject(base) && head['id'] !== base['id'];
  return isFork && sender && personAt(head, 'owner')?.id === sender.id ? sender : undefined;
}

/** The event of a merge queue, which asks for a check of what it would merge. */
function groupEvent(payload: Json): Event {
  if (payload['action'] !== 'checks_requested')
    return { kind: 'none', why: 'the merge queue event requests no checks' };
  const group = objectAt(payload, 'merge_group');
  return {
    kind: 'group',
    base: commitAt(group, 'base_sha'),
    head: commitAt(group, 'head_sha'),
    branch: branchAt(group, 'base_ref'),
  };
}

/** The event of a comment. It only asks for a check: whoever may comment decides nothing. */
function commentEvent(payload: Json): Event {
  const issue = objectAt(payload, 'issue');
  const { body } = objectAt(payload, 'comment');
  const command = payload['action'] === 'created' && typeof body === 'string' ? commandIn(body) : undefined;
  if (!isObject(issue['pull_request']) || !command)
    return {
      kind: 'none',
      why: 'the comment is not a new /recheck, /who or /explain RULE on a pull request',
    };
  return { kind: 'recheck', number: numberIn(issue), ...command };
}

/**
 * A push to a branch. A branch that was deleted has nothing to publish.
 *
 * @throws PipelineError `bad-answer` for a push of a tag
 */
function pushEvent(payload: Json): Event {
  if (payload['deleted'] === true) return { kind: 'none', why: 'the branch was deleted' };
  const branch = branchAt(payload, 'ref');
  return { kind: 'push', branch, commit: commitAt(payload, 'after'), before: commitAt(payload, 'before') };
}

/** Type of the event that announces a merge with the job's own token. */
export const MOVED = 'portolan-moved';

/** The event that Portolan sends after a merge with the job's token. GitHub starts no workflow for such a merge itself. */
function branchMovedEvent(payload: Json): Event {
  if (payload['action'] !== MOVED) return { kind: 'none', why: 'the dispatched event is not of Portolan' };
  const about = objectAt(payload, 'client_payload');
  const [before, commit] = [commitAt(about, 'before'), commitAt(about, 'after')];
  return { kind: 'moved', branch: textAt(about, 'branch'), before, commit };
}

// Fields of a payload. All but `personAt` throw `bad-answer` for one that is missing or of another type.

/** The name of the branch that a field gives as a ref, `refs/heads/NAME`. */
function branchAt(json: Json, key: string): string {
  const ref = json[key];
  const [, branch] = typeof ref === 'string' ? (/^refs\/heads\/(.+)$/.exec(ref) ?? []) : [];
  return branch ?? missing(key);
}

function objectAt(json: Json, key: string): Json {
  const value = json[key];
  return isObject(value) ? value : missing(key);
}

function textAt(json: Json, key: string): string {
  const value = json[key];
  return typeof value === 'string' && value !== '' ? value : missing(key);
}

function numberIn({ number: value }: Json): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : missing('number');
}

/** The id of a commit, 40 hex digits (SHA-1) or 64 (SHA-256). */
function commitAt(json: Json, key: string): string {
  const id = json[key];
  return typeof id === 'string' && isObjectId(id) ? id : missing(key);
}

/** An account; undefined where the field is null or names nobody. */
function personAt(json: Json, key: string): Person | undefined {
  const { login, id, type } = isObject(json[key]) ? json[key] : {};
  if (typeof login !== 'string' || typeof id !== 'number') return undefined;
  return type === 'Bot' ? { login, id, bot: true } : { login, id };
}

function missing(what: string): never {
  throw new PipelineError('bad-answer', `the event has no ${what}`);
}
