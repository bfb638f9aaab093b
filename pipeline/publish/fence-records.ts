/** A fence over any store with conditional writes. */

import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { PipelineError } from '../error.ts';
import { isObjectId } from '../git/objects.ts';
import type { Claim, Fence, Lease, RecordStore, Retirement, StandingClaim, StandingLease } from '../ports.ts';

/** Claims as records below `fence/`, leases below `lease/`. */
export function recordFence(store: RecordStore): Fence {
  const keyOf = (name: string): string => `fence/${name}`;
  const read = (name: string): Promise<StandingClaim | undefined> =>
    standingAt(store, keyOf(name), parseClaim);
  return {
    read,
    replace: async (name, claim, standing) => {
      const text = claimText({ ...claim, sequence: (standing?.sequence ?? 0) + 1 });
      const isOurs = await store.replace(keyOf(name), new TextEncoder().encode(text), standing?.version);
      // Another claim may stand there by now; it is ahead of ours, and as good to go on with.
      return isOurs ? read(name) : undefined;
    },
    ...leasesIn(store),
  };
}

/** What a record says, with the version that a later write must find; undefined where there is none. */
async function standingAt<T>(
  store: RecordStore,
  key: string,
  parse: (text: string, where: string) => T,
): Promise<(T & { readonly version: string }) | undefined> {
  const record = await store.get(key);
  return record && { ...parse(new TextDecoder().decode(record.bytes), key), version: record.version };
}

/** Leases in a record store. */
function leasesIn(store: RecordStore): Pick<Fence, 'readLease' | 'replaceLease'> {
  const keyOf = (name: string): string => `lease/${name}`;
  const readLease = (name: string): Promise<StandingLease | undefined> =>
    standingAt(store, keyOf(name), parseLease);
  return {
    readLease,
    replaceLease: async (name, until, standing) => {
      const lease = nextLease(until, standing);
      const bytes = new TextEncoder().encode(leaseText(lease));
      if (!(await store.replace(keyOf(name), bytes, standing?.version))) return undefined;
      const now = await readLease(name);
      // Somebody may have taken what was given back here.
      return now?.turn === lease.turn && now.until === until ? now : undefined;
    },
  };
}

/** The lease that replaces the standing one. */
export function nextLease(until: number, standing: Lease | undefined): Lease {
  return { turn: (standing?.turn ?? 0) + 1, until };
}

/** A lease as it is kept. */
export function leaseText({ turn, until }: Lease): string {
  return `${JSON.stringify({ turn, until })}\n`;
}

/**
 * Reads a lease as it is kept.
 *
 * @param where for the message
 * @throws PipelineError `corrupt`
 */
export function parseLease(text: string, where: string): Lease {
  const value = parsedJson(text);
  if (isObject(value)) {
    const { turn, until } = value;
    if (Number.isSafeInteger(turn) && Number.isSafeInteger(until))
      return { turn: Number(turn), until: Number(until) };
  }
  throw unreadable('lease', text, where);
}

type StoredClaim = Claim & Pick<StandingClaim, 'sequence'>;

/** The ways to retire that a claim may name. */
const RETIREMENTS: readonly unknown[] = ['keep', 'retag', 'delete'] satisfies Retirement[];

/** Epochs there are: each is begun by hand after a rewritten history. A larger one was not written by Portolan. */
const MOST_EPOCHS = 1_000_000_000;

/** A claim as it is kept. */
export function claimText({ epoch, commit, digest, sequence, retired }: StoredClaim): string {
  return `${JSON.stringify({ epoch, sequence, commit, digest, retired })}\n`;
}

/**
 * Reads a claim as it is kept.
 *
 * @param where for the message
 * @throws PipelineError `corrupt`
 */
export function parseClaim(text: string, where: string): StoredClaim {
  const value = parsedJson(text);
  if (isObject(value)) {
    const { epoch, sequence, commit, digest, retired } = value;
    const numbers =
      Number.isSafeInteger(epoch) && Number(epoch) < MOST_EPOCHS && Number.isSafeInteger(sequence);
    const isImage = typeof digest === 'string' && /^sha256:[0-9a-f]{64}$/.test(digest);
    const isCommit = typeof commit === 'string' && isObjectId(commit);
    if (numbers && isCommit && isImage && isRetirement(retired)) {
      const claim = { epoch: Number(epoch), sequence: Number(sequence), commit, digest };
      return retired === undefined ? claim : { ...claim, retired };
    }
  }
  throw unreadable('claim', text, where);
}

/** The error for a claim or lease that cannot be read: to publish over it could bring an older commit back. */
function unreadable(what: string, text: string, where: string): PipelineError {
  return new PipelineError(
    'corrupt',
    `${where} is not a valid ${what}: ${JSON.stringify(text.slice(0, 80))}`,
    {
      hint: 'Portolan publishes nothing while it cannot read the fence (docs/functions.md#disaster-recovery)',
    },
  );
}

function isRetirement(value: unknown): value is Retirement | undefined {
  return value === undefined || RETIREMENTS.includes(value);
}
