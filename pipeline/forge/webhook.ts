/** The events in a forge's webhooks, after their signature was checked. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../catalog/go/shape.ts';

/** Headers of a delivery; names in lower case. */
type WebhookHeaders = Readonly<Record<string, string | undefined>>;

export interface PushEvent {
  readonly kind: 'push';
  /** The forge's number of the repository. */
  readonly id: number;
  /** Time of sending, in ms since 1970; undefined if the forge does not send it. */
  readonly at: number | undefined;
  readonly ref: string;
  readonly after: string;
  /** Undefined for a branch that is new. */
  readonly before: string | undefined;
  readonly deleted: boolean;
}

/** An event after which a pull request is checked again. */
interface PullEvent {
  readonly kind: 'pull';
  readonly id: number;
  readonly at: number | undefined;
  readonly number: number;
  /** Id of the previous head that a push replaced, if the event names it. Other pull requests may still have it. */
  readonly previousHead?: string | undefined;
}

/** A status of a commit was set, by Portolan or by another account in its name. */
interface StatusEvent {
  readonly kind: 'status';
  readonly id: number;
  readonly at: number | undefined;
  readonly commit: string;
}

/** A check of a commit has ended, which pull requests may wait for. */
interface CommitEvent {
  readonly kind: 'commit';
  readonly id: number;
  readonly at: number | undefined;
  readonly commit: string;
}

/** A group of a merge queue is to be checked. */
interface GroupEvent {
  readonly kind: 'group';
  readonly id: number;
  readonly at: number | undefined;
  /** Ids of the commits that the group lies between, and the branch that it is for. */
  readonly base: string;
  readonly head: string;
  readonly branch: string;
}

/** The members of a team or an organization have changed. */
interface PeopleEvent {
  readonly kind: 'people';
  readonly at: number | undefined;
  /** Login of the organization. */
  readonly owner: string;
}

export type ForgeEvent = PushEvent | PullEvent | StatusEvent | CommitEvent | GroupEvent | PeopleEvent;

/** How a forge signs and writes webhooks. */
export interface Webhooks {
  /** Whether the forge sent this very text. An empty secret never matches. */
  isSigned(text: string, headers: WebhookHeaders, secret: string): Promise<boolean>;
  /** Distinguishes deliveries of equal text; empty if the forge sends no such id. */
  deliveryOf(headers: WebhookHeaders, delivered: { readonly now: Date; readonly event: ForgeEvent }): string;
  /** @returns `other` for an event that asks for nothing; undefined for one that is not as the forge writes it */
  eventOf(headers: WebhookHeaders, text: string): ForgeEvent | 'other' | undefined;
}

/** Whether a text has this HMAC-SHA256, in hex without a prefix. An empty secret never matches. */
export function isSignedWith(text: string, signature: string | undefined, secret: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(signature ?? '') || secret === '') return false;
  const own = createHmac('sha256', secret).update(text).digest();
  return timingSafeEqual(own, Buffer.from(signature ?? '', 'hex'));
}

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const NOTHING = /^0+$/;

/** Whether a value of an event is the id of a commit. */
export function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value);
}

/** Ref and commits of a push; undefined where it names none. The forges write them alike: zeros stand for no commit. */
export function pushedIn(
  value: Readonly<Record<string, unknown>>,
): Pick<PushEvent, 'ref' | 'after' | 'before' | 'deleted'> | undefined {
  const { ref, after, before } = value;
  if (typeof ref !== 'string' || typeof after !== 'string' || !COMMIT.test(after)) return undefined;
  const from =
    typeof before === 'string' && COMMIT.test(before) && !NOTHING.test(before) ? before : undefined;
  return { ref, after, before: from, deleted: NOTHING.test(after) };
}

/** Number and time of what an event has under `pull_request`; undefined where it names none. */
export function pullIn(value: unknown): (Pick<PullEvent, 'number'> & { readonly at: number }) | undefined {
  if (!isObject(value)) return undefined;
  const { number, updated_at: updated } = value;
  const at = typeof updated === 'string' ? Date.parse(updated) : Number.NaN;
  return typeof number !== 'number' || Number.isNaN(at) ? undefined : { number, at };
}
