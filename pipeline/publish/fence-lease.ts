/**
 * The lease of a tag: while somebody holds it, nobody else moves the tag. A registry writes a tag for whoever asks,
 * also for one who died meanwhile, or whose request was long on its way. So a lease ends later than the last request
 * that may be made under it, and who does not know what became of a request leaves the lease to its end.
 */
import { PipelineError } from '../error.ts';
import { systemClock } from '../oci/registry/http/retry.ts';
import type { Clock, Fence, StandingLease } from '../ports.ts';

export interface LeaseOptions {
  readonly clock?: Clock | undefined;
  /** How long another holder is waited for, in ms; longer than a lease when left out. */
  readonly patience?: number | undefined;
}

interface Leasing extends LeaseOptions {
  readonly fence: Fence;
  /** Name of the fence. */
  readonly name: string;
}

/** From the request for a lease to its end, in ms. */
export const LEASE = 90_000;
/**
 * In this part of it requests are made and answered. The rest is for clocks that differ, and for what a registry does
 * with a request that was cut off.
 */
const USE = 60_000;

/** Milliseconds between two tries to get the lease; each is twice as long as the one before. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/** A lease that is held. */
export interface HeldLease {
  /**
   * How long requests may still take that move something, in ms.
   *
   * @throws PipelineError `conflict`, retryable, when none may be made any more
   */
  timeLeft(): number;
  /** Leaves the lease to its end: a request may still be under way. */
  doubt(): void;
  /** Gives it back, unless there is doubt. */
  end(): Promise<void>;
}

/**
 * Waits for the lease.
 *
 * @throws PipelineError `conflict`, retryable, when somebody else holds it for too long
 */
export async function acquireLease({
  fence,
  name,
  clock = systemClock,
  patience,
}: Leasing): Promise<HeldLease> {
  const until = clock.now() + (patience ?? LEASE + LONGEST_PAUSE);
  // The holder that was seen last, and since when on our own clock.
  let seen = { turn: -1, since: 0 };
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const standing = await fence.readLease(name);
    const began = clock.now();
    if (standing && standing.turn !== seen.turn) seen = { turn: standing.turn, since: began };
    // Whatever its clock said, nobody uses a lease for longer: a wrong clock must not block publishing for ever.
    const isOver = standing !== undefined && (standing.until <= began || began - seen.since >= LEASE);
    if (!standing || isOver) {
      const lease = await fence.replaceLease(name, began + LEASE, standing);
      if (lease) return heldLease({ fence, name, clock, lease, over: began + USE });
    }
    if (clock.now() + pause > until) {
      throw new PipelineError('conflict', `another publisher is moving ${name}, or died while it did`, {
        retryable: true,
        hint: `publish again; it waits no longer than ${LEASE / 1000} s for a publisher that died`,
      });
    }
    await clock.sleep(pause);
  }
}

interface LeaseOnClock extends Required<Pick<Leasing, 'fence' | 'name'>> {
  readonly clock: Clock;
  readonly lease: StandingLease;
  /** When the last request must have been answered. */
  readonly over: number;
}

/** A lease that is held: how long it lasts, and how to end it. */
function heldLease({ fence, name, clock, lease, over }: LeaseOnClock): HeldLease {
  let isSure = true;
  return {
    timeLeft: () => {
      const rest = over - clock.now();
      if (rest > 0) return rest;
      throw new PipelineError('conflict', `moving ${name} took too long`, { retryable: true });
    },
    doubt: () => {
      isSure = false;
    },
    end: async () => {
      // A move that may still happen keeps the lease until it expires.
      if (!isSure) return;
      try {
        await fence.replaceLease(name, 0, lease);
      } catch (error) {
        // The lease expires without a call.
        if (!(error instanceof PipelineError)) throw error;
      }
    },
  };
}
