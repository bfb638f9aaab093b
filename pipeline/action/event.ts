/**
 * The event of a pull request as GitHub sends it, as far as the check needs it.
 *
 * @see https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request
 */
import { isObject } from '../../catalog/shape.ts';
import { PipelineError } from '../error.ts';
import type { Person } from '../github/identity.ts';

export interface Event {
  readonly number: number;
  /** Ids of commits. */
  readonly base: string;
  readonly head: string;
  readonly author: Person;
  /** Who caused the event: whoever pushed, when it is about a push. */
  readonly sender: Person | undefined;
  readonly draft: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** @throws PipelineError `bad-answer` for a payload that is none of a pull request */
export function eventOf(payload: Json): Event {
  const request = objectAt(payload, 'pull_request');
  return {
    number: Number(request['number']),
    base: commitAt(request, 'base'),
    head: commitAt(request, 'head'),
    author: personAt(request, 'user') ?? missing('pull_request.user'),
    sender: personAt(payload, 'sender'),
    draft: request['draft'] === true,
  };
}

function objectAt(json: Json, key: string): Json {
  const value = json[key];
  return isObject(value) ? value : missing(key);
}

function commitAt(request: Json, side: 'base' | 'head'): string {
  const id = objectAt(request, side)['sha'];
  return typeof id === 'string' && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(id)
    ? id
    : missing(`pull_request.${side}.sha`);
}

function personAt(json: Json, key: string): Person | undefined {
  const { login, id } = isObject(json[key]) ? json[key] : {};
  return typeof login === 'string' && typeof id === 'number' ? { login, id } : undefined;
}

function missing(what: string): never {
  throw new PipelineError('bad-answer', `the event names no ${what}`);
}
