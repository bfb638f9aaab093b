/**
 * A webhook of a forge, accepted whatever the load: looked at, put into the queue, answered. Anybody
 * can send to the address, so nothing is believed before its signature has been checked, on the very
 * bytes that came.
 */

import { createHash } from 'node:crypto';
import type { ForgeEvent, PushEvent, Webhooks } from '../pipeline/forge/webhook.ts';
import type { Queue, RecordStore } from '../pipeline/ports.ts';
import { type GateSubject, isBranch, messageOf, type Work } from '../pipeline/publish/delivery/message.ts';

/** A repository whose branch is published. */
export interface Source {
  /** `owner/name`, for people and for the API; it may be renamed. */
  readonly repository: string;
  /** The forge's number of it, which never changes. */
  readonly id: number;
  readonly branch: string;
  /** Where it is fetched from. */
  readonly url: string;
  /** The job that may ask for publishes; none may when left out. */
  readonly job?: PublishingJob | undefined;
}

/** A job of the Action, as its identity token names it. */
export interface PublishingJob {
  /** GitHub's number of the repository's owner. */
  readonly ownerId: number;
  /** Path of its workflow. */
  readonly workflow: string;
  /** Only who may use it can publish; any when left out. */
  readonly environment?: string | undefined;
}

export interface Delivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body's bytes, as they came. */
  readonly body: Uint8Array;
}

export interface ReceivePorts {
  /** How the forge signs and writes webhooks. */
  readonly webhooks: Webhooks;
  /** What the forge signs with; several, one a line, while one takes the place of another. */
  readonly secret: () => Promise<string>;
  readonly sources: readonly Source[];
  /** Whether there is an account, as which pull requests are checked. */
  readonly checksPulls: boolean;
  readonly queue: Queue;
  /** Remembers what was accepted. */
  readonly records: RecordStore;
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

export interface Answer {
  readonly status: number;
  /** One line; it repeats nothing that the sender wrote. */
  readonly text: string;
}

/** Bytes of a body that are looked at; GitHub's pushes of thousands of commits are cut at 25 MB. */
const LARGEST = 5 * 1024 * 1024;

/** How old an event may be, in ms: GitHub lets people send one again for three days. */
const OLDEST = 3 * 24 * 60 * 60 * 1000;

/** Answers a webhook delivery: checks its signature and age, and queues the work that it asks for, once. */
export async function receiveDelivery({ headers, body }: Delivery, ports: ReceivePorts): Promise<Answer> {
  if (body.length > LARGEST) return refusedAnswer(ports, 413, 'the body is too large');
  const { webhooks } = ports;
  const text = decodeUtf8(body);
  if (!text) return refusedAnswer(ports, 400, 'the body is empty or not text');
  if (!(await isSigned(text, headers, ports))) {
    return refusedAnswer(ports, 401, 'the signature does not match the body');
  }
  const event = webhooks.eventOf(headers, text);
  if (event === 'other') return { status: 202, text: 'nothing to do for this event' };
  if (!event || (event.kind === 'push' && !isBranch(event.ref)))
    return refusedAnswer(ports, 400, 'invalid event');
  const sources = ports.sources.filter((source) => isMeant(source, event));
  if (sources.length === 0) return refusedAnswer(ports, 403, 'the repository is not published from here');
  if (event.at !== undefined && ports.now().getTime() - event.at > OLDEST)
    return refusedAnswer(ports, 409, 'the event is stale');
  // An event is known by its signed body: whoever replays one can give it another delivery id. Only where the body has no time,
  // so that two events may have the same one, the id counts, too: a check too many costs less than a check too few.
  const digest = createHash('sha256')
    .update(body)
    .update(webhooks.deliveryOf(headers, { now: ports.now(), event }))
    .digest('hex');
  const all = workOf(event, sources, digest);
  if (all.length === 0) return { status: 202, text: 'nothing to do for this branch' };
  const work = all.filter(({ kind }) => kind !== 'gate' || ports.checksPulls);
  if (work.length === 0) return { status: 202, text: 'pull requests are not checked here' };
  if (await ports.records.get(`deliveries/${digest}`)) return { status: 202, text: 'already accepted' };
  for (const one of work) await ports.queue.send(messageOf(one));
  const accepted = work.map((one) => `${JSON.stringify(one)}\n`).join('');
  await ports.records.put(`deliveries/${digest}`, new TextEncoder().encode(accepted));
  return { status: 202, text: 'accepted' };
}

/** Events about people have no repository: they concern all of the organization's. */
function isMeant({ id, repository }: Source, event: ForgeEvent): boolean {
  if (event.kind !== 'people') return id === event.id;
  return repository.toLowerCase().startsWith(`${event.owner.toLowerCase()}/`);
}

/** Whether one of the secrets signed it; each is tried, so that the time taken does not tell which one did. */
async function isSigned(
  text: string,
  headers: Delivery['headers'],
  { webhooks, secret }: ReceivePorts,
): Promise<boolean> {
  const secrets = (await secret()).split('\n').map((line) => line.trim());
  // To HMAC, a secret of zero bytes is an empty one.
  const answers = secrets
    .filter((one) => !/^\0*$/.test(one))
    .map((one) => webhooks.isSigned(text, headers, one));
  return (await Promise.all(answers)).includes(true);
}

/** The work that an event asks for. @param sources branches of the event's repositories that are published */
function workOf(event: ForgeEvent, sources: readonly Source[], digest: string): Work[] {
  if (event.kind === 'push') return pushWork(event, sources, digest);
  const repositories = [...new Set(sources.map(({ repository }) => repository))];
  const subject = subjectOf(event);
  return repositories.map((repository) => ({ v: 1, kind: 'gate', repository, ...subject, event: digest }));
}

/** What an event asks the gate to check. */
function subjectOf(event: Exclude<ForgeEvent, PushEvent>): GateSubject {
  switch (event.kind) {
    case 'pull':
      return event.previousHead === undefined
        ? { number: event.number }
        : { number: event.number, left: event.previousHead };
    case 'status':
      return { commit: event.commit, set: true };
    case 'commit':
      return { commit: event.commit };
    case 'group':
      return { commit: event.head, base: event.base, branch: event.branch };
    case 'people':
      // Any pull request may wait for somebody in a team: nothing narrows it down.
      return {};
  }
}

/** The work that a push asks for: to publish its branch, and to check the pull requests for it. */
function pushWork(
  { ref, deleted, after: commit, before }: PushEvent,
  sources: readonly Source[],
  digest: string,
): Work[] {
  // They are branches of one repository: a push is of no other.
  const [{ repository } = { repository: '' }] = sources;
  const branch = ref.replace('refs/heads/', '');
  // A tag, or a branch that is gone, publishes nothing.
  if (deleted || branch === ref) return [];
  const base = before === undefined ? {} : { base: before };
  const gate: Work = { v: 1, kind: 'gate', repository, branch, ...base, event: digest };
  if (!sources.some((source) => source.branch === branch)) return [gate];
  const from = before === undefined ? {} : { before };
  return [{ v: 1, kind: 'push', repository, branch, commit, ...from }, gate];
}

/**
 * Decodes UTF-8; undefined for bytes that are not. Decoders usually replace such bytes, and then other bytes than the signed
 * ones give the same text.
 */
function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** An answer that refuses a delivery. The log says why, too: the sender may be anybody. */
function refusedAnswer({ log }: ReceivePorts, status: number, text: string): Answer {
  log(`rejected a delivery: ${text}`);
  return { status, text };
}
