/** Hosts that never answer: a thousand references to one must not wait for it one after another. */
import { PipelineError } from '../../../error.ts';
import type { Clock } from '../../../ports.ts';
import type { Method } from './exchange.ts';
import type { Budget } from './retry.ts';

/** A host has not answered any request of a kind since the program began. */
export class SilentHost extends PipelineError {}

/** Requests of a kind that a host may leave without an answer, one after another, before it counts as silent. */
const TRIES = 2;
/** Milliseconds for which a silent host is not asked at least. */
const SHORTEST = 30_000;

interface Silence {
  /** Tries that had no answer, those that were on their way together counted once. */
  tries: number;
  /** When the first of them began. */
  readonly since: number;
  /** Until when the host is not asked; 0 while it does not count as silent. */
  until: number;
  /** What is thrown meanwhile; undefined while it does not count as silent. */
  error: SilentHost | undefined;
}

export interface Silences {
  /**
   * A request is about to be sent.
   *
   * @returns the number of the try
   * @throws SilentHost if the host is not to be asked, and ends the budget
   */
  begin(method: Method, budget: Budget): number;
  /** An answer came, whatever it says. */
  answered(method: Method): void;
  /** No answer came in time to the try with a number. */
  unanswered(method: Method, number: number, error: PipelineError): void;
}

/**
 * Counts requests without an answer to one host, for each method: some answer GET, and never HEAD. A host that answered
 * before is only slow. A silent one is asked again after as long as it was silent: a program that runs for days notices
 * its return.
 */
export function createSilences({ now }: Pick<Clock, 'now'>): Silences {
  const heard = new Set<Method>();
  const silent = new Map<Method, Silence>();
  return {
    begin: (method, budget) => {
      // What answers no GET answers no HEAD, either.
      const ofAll = heard.has(method) || method !== 'HEAD' ? undefined : silent.get('GET');
      const found = ofAll?.error && now() < ofAll.until ? ofAll : silent.get(method);
      if (found === undefined) {
        if (!heard.has(method)) silent.set(method, { tries: 0, since: now(), until: 0, error: undefined });
        return 0;
      }
      if (found.error === undefined || now() >= found.until) return found.tries;
      budget.deadline = now();
      throw found.error;
    },
    answered: (method) => {
      heard.add(method);
      silent.delete(method);
    },
    unanswered: (method, number, { code, message }) => {
      const found = silent.get(method);
      // Those that were on their way together are one try.
      if (found?.tries !== number || ++found.tries < TRIES) return;
      found.until = now() + Math.max(SHORTEST, now() - found.since);
      found.error = new SilentHost(code, message, { retryable: true });
    },
  };
}
