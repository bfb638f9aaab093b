/**
 * A webhook of GitHub, taken in whatever the load: looked at, put into the queue, answered. Anybody
 * can send to the address, so nothing is believed before its signature has been checked, on the very
 * bytes that came.
 */
import { createHash } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { isObject } from '../catalog/shape.ts';
import { isBranch, messageOf } from '../pipeline/delivery/message.ts';
import type { Queue, RecordStore } from '../pipeline/ports.ts';

/** A repository whose branch is published. */
export interface Source {
  /** `owner/name`, for people and for the API; it may be renamed. */
  readonly repository: string;
  /** GitHub's number of it, which never changes. */
  readonly id: number;
  readonly branch: string;
  /** Where it is fetched from. */
  readonly url: string;
}

export interface Delivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body's bytes, as they came. */
  readonly body: Uint8Array;
}

export interface ReceivePorts {
  /** What GitHub signs with. */
  readonly secret: () => Promise<string>;
  readonly sources: readonly Source[];
  readonly queue: Queue;
  /** Remembers what was taken in. */
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

/** How old a push may be, in ms: GitHub lets people send one again for three days. */
const OLDEST = 3 * 24 * 60 * 60 * 1000;

/** Answers a delivery. */
export async function receive({ headers, body }: Delivery, ports: ReceivePorts): Promise<Answer> {
  if (body.length > LARGEST) return refused(ports, 413, 'the body is too large');
  const signature = headers['x-hub-signature-256'] ?? '';
  const text = decoded(body);
  if (text === undefined) return refused(ports, 400, 'the body is no text');
  if (!(await isSigned(text, signature, await ports.secret()))) {
    return refused(ports, 401, 'the signature is not that of the body');
  }
  if (headers['x-github-event'] !== 'push') return { status: 202, text: 'nothing to do for this event' };
  const push = readPush(text);
  if (!push) return refused(ports, 400, 'this is no push');
  const source = ports.sources.find(({ id }) => id === push.id);
  if (!source) return refused(ports, 403, 'the repository is not published from here');
  if (push.ref !== `refs/heads/${source.branch}` || push.deleted) {
    return { status: 202, text: 'nothing to do for this branch' };
  }
  if (ports.now().getTime() - push.pushedAt > OLDEST) return refused(ports, 409, 'the push is stale');
  // The delivery's id is not signed: whoever replays a body can give it another one.
  const key = `deliveries/${createHash('sha256').update(body).digest('hex')}`;
  if (await ports.records.get(key)) return { status: 202, text: 'taken in before' };
  const { repository, branch } = source;
  await ports.queue.send(messageOf({ v: 1, kind: 'push', repository, branch, commit: push.after }));
  await ports.records.put(key, new TextEncoder().encode(`${JSON.stringify({ commit: push.after })}\n`));
  return { status: 202, text: 'taken in' };
}

/** The text whose bytes these are; other bytes could pass for it if they were only replaced. */
function decoded(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function refused({ log }: ReceivePorts, status: number, text: string): Answer {
  log(`refused a delivery: ${text}`);
  return { status, text };
}

async function isSigned(text: string, signature: string, secret: string): Promise<boolean> {
  if (!/^sha256=[0-9a-f]{64}$/.test(signature) || secret === '') return false;
  return new Webhooks({ secret }).verify(text, signature);
}

interface Push {
  readonly id: number;
  readonly ref: string;
  readonly after: string;
  readonly deleted: boolean;
  /** In ms since 1970. */
  readonly pushedAt: number;
}

function readPush(text: string): Push | undefined {
  const value = parsed(text);
  if (!isObject(value) || !isObject(value['repository'])) return undefined;
  const { ref, after, deleted } = value;
  const { id, pushed_at: pushedAt } = value['repository'];
  if (typeof ref !== 'string' || !isBranch(ref) || typeof after !== 'string') return undefined;
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(after) || typeof id !== 'number') return undefined;
  // Seconds in pushes, a date in every other event.
  if (typeof pushedAt !== 'number') return undefined;
  return { id, ref, after, deleted: deleted === true, pushedAt: pushedAt * 1000 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
