/**
 * Requests as registries need them: paced by host, redirects followed without taking
 * credentials along, and a failure that another try may mend said to be so. Trying again is
 * the caller's part (`attempt`), who knows what is safe to repeat.
 */
import { PipelineError } from '../../../error.ts';
import { failureOf, headerOf, isRetryable } from '../response.ts';
import { hostAndPort } from './addresses.ts';
import type { Connections } from './connection.ts';
import {
  type Answer,
  exchangeOnce,
  type Meter,
  type Method,
  NoAnswer,
  type RequestBody,
  type Timeouts,
} from './exchange.ts';
import { createPace, type Pace } from './pace.ts';
import { type Budget, newBudget, type Retrying, retryAfter, withRetry } from './retry.ts';
import { createSilences, type Silences } from './silence.ts';

/** What has gone to and come from one host: whole requests, and bytes of bodies. */
export interface Traffic {
  readonly requests: number;
  readonly sent: number;
  readonly received: number;
}

export interface TransportRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `Authorization` header; it goes to the URL's own origin and nowhere else. */
  readonly authorization?: string | undefined;
  readonly body?: RequestBody;
  /** Whether the body holds a secret: it goes to the URL's own origin and nowhere else, either. */
  readonly isSecret?: boolean;
  /** Whether the host only looks something up, as for every HEAD: it gets less time to answer. */
  readonly isLook?: boolean;
  /** Whether the answer does not tell whether the host answers anything else. */
  readonly isGreeting?: boolean;
  /** What is asked for, in words: it stands in messages instead of the URL. */
  readonly what: string;
}

export interface Transport {
  /**
   * One try. Redirects are followed; every other answer is given, but for those that say
   * "not now".
   *
   * @throws PipelineError, `retryable` when another try may go better
   */
  send(request: TransportRequest, budget: Budget): Promise<Answer>;
  /** Does something with requests to a host again and again within one budget. */
  attempt<T>(host: string, work: (budget: Budget) => Promise<T>, budget?: Budget): Promise<T>;
  /** @throws PipelineError `not-allowed` for a URL that is neither https nor of a host named as plain */
  checkUrl(url: URL): void;
  /** By host, with its port where a URL has one. */
  traffic(): ReadonlyMap<string, Traffic>;
  close(): void;
}

interface TransportOptions {
  readonly connections: Connections;
  /** Hosts that may be asked over plain HTTP. */
  readonly plainHosts: ReadonlySet<string>;
  /** Requests at a time to one host at most. */
  readonly concurrency: number;
  /** The same for a host that is far away. */
  readonly distantConcurrency: number;
  readonly timeouts: Timeouts;
  readonly retrying: Retrying;
  readonly userAgent: string;
  readonly signal: AbortSignal | undefined;
}

/** Redirects of one request that are followed. */
const MAX_REDIRECTS = 5;
/** Milliseconds for which a host that did not answer at all is not asked again. */
const DOWN_FOR = 30_000;

interface HostState {
  readonly pace: Pace;
  readonly silences: Silences;
  readonly traffic: { requests: number; sent: number; received: number };
  readonly meter: Meter;
  /** Whether it has answered more than greetings. */
  hasAnswered: boolean;
  /** How many answers came, so that such a host is not taken for one that never answers. */
  answers: number;
  down: { readonly until: number; readonly error: PipelineError } | undefined;
}

interface Timed {
  readonly answer: Answer;
  /** Milliseconds from the request to the head of the answer. */
  readonly took: number;
}

/** Sends requests to hosts: at the pace that each bears, with redirects followed and failures tried again. */
export function createTransport(options: TransportOptions): Transport {
  const hosts = new Map<string, HostState>();
  const { retrying } = options;
  const state = (host: string): HostState => {
    const earlier = hosts.get(host);
    if (earlier) return earlier;
    const fresh = newHost(host, options);
    hosts.set(host, fresh);
    return fresh;
  };
  const checkUrl = (url: URL): void => {
    if (url.protocol === 'https:') return;
    const names = [url.host, hostAndPort(url)];
    if (url.protocol === 'http:' && names.some((name) => options.plainHosts.has(name))) return;
    throw new PipelineError(
      'not-allowed',
      `${url.protocol}//${url.host} is not contacted because it does not use HTTPS`,
      // No setting reaches a protocol that is not HTTP at all.
      url.protocol === 'http:' ? { remedy: { kind: 'plain-http', host: url.host } } : {},
    );
  };
  const hop = async (request: TransportRequest, budget: Budget): Promise<Timed> => {
    const host = state(request.url.host);
    const leave = await host.pace.enter(budget);
    try {
      const began = retrying.clock.now();
      const answer = await ask(request, host, { ...options, budget });
      return { answer, took: retrying.clock.now() - began };
    } finally {
      leave();
    }
  };
  const send = async (request: TransportRequest, budget: Budget): Promise<Answer> => {
    let current = request;
    for (let followed = 0; ; followed++) {
      checkUrl(current.url);
      const timed = await hop(current, budget);
      const { answer } = timed;
      const next = redirectOf(answer, current);
      if (next === undefined) return pacedAnswer(timed, state(current.url.host), request, retrying);
      await answer.discard();
      if (current.isSecret && next.url.origin !== current.url.origin)
        throw secretElsewhere(current, next.url);
      if (followed === MAX_REDIRECTS) {
        throw new PipelineError('bad-answer', `${request.url.host} redirects ${request.what} too often`);
      }
      current = next;
    }
  };
  return {
    send,
    checkUrl,
    attempt: (host, work, budget = newBudget(retrying, options.signal)) =>
      untilDown(state(host), retrying, () => withRetry(retrying, budget, () => work(budget))),
    traffic: () => new Map([...hosts].map(([host, { traffic }]) => [host, { ...traffic }])),
    close: options.connections.close,
  };
}

/** What is known of a host before its first request. */
function newHost(host: string, { concurrency, distantConcurrency, retrying }: TransportOptions): HostState {
  const traffic = { requests: 0, sent: 0, received: 0 };
  return {
    pace: createPace({
      host,
      most: concurrency,
      mostWhenDistant: distantConcurrency,
      clock: retrying.clock,
      waits: retrying.options,
    }),
    silences: createSilences(retrying.clock),
    traffic,
    meter: {
      sent: (bytes) => {
        traffic.sent += bytes;
      },
      received: (bytes) => {
        traffic.received += bytes;
      },
    },
    hasAnswered: false,
    answers: 0,
    down: undefined,
  };
}

/** Sends one request and counts it. */
async function ask(
  request: TransportRequest,
  host: HostState,
  { budget, ...options }: TransportOptions & { readonly budget: Budget },
): Promise<Answer> {
  const { authorization, body, method, isGreeting = false } = request;
  const signal = budget.signal ?? options.signal;
  const number = host.silences.begin(method, budget);
  host.traffic.requests++;
  const answer = await exchangeOnce(
    {
      method,
      // A host that has not answered yet gets less time for everything that it only reads.
      isLook: request.isLook ?? (method === 'HEAD' || (method === 'GET' && !host.hasAnswered)),
      url: request.url,
      headers: {
        'user-agent': options.userAgent,
        // Digests are of the bytes as stored, not as compressed on the way.
        'accept-encoding': 'identity',
        ...request.headers,
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    },
    { connections: options.connections, timeouts: options.timeouts, meter: host.meter },
  ).catch((error: unknown) => {
    if (error instanceof NoAnswer) host.silences.unanswered(method, number, error);
    throw error;
  });
  host.answers++;
  if (!isGreeting) {
    host.silences.answered(method);
    host.hasAnswered = true;
  }
  host.down = undefined;
  return answer;
}

/**
 * Adjusts the pace of requests to a host by its answer, and hands on an answer that is final.
 *
 * @throws PipelineError for an answer that says that the host is busy or broken; it may be retried
 */
async function pacedAnswer(
  { answer, took }: Timed,
  host: HostState,
  request: TransportRequest,
  { clock }: Retrying,
): Promise<Answer> {
  if (!isRetryable(answer.status)) {
    host.pace.succeeded(took);
    return answer;
  }
  const pause = retryAfter(headerOf(answer, 'retry-after'), clock.now());
  if (answer.status === 429 || pause > 0) host.pace.slowDown(pause);
  // 500 may be about this request only. 502, 503 and 504 are about the host.
  else if (answer.status > 500) host.pace.failed();
  throw await failureOf(answer, request.what);
}

/** The error for a redirect that would send a secret to another host. */
function secretElsewhere({ url, what }: TransportRequest, to: URL): PipelineError {
  const message = `${url.host} redirects ${what} to ${to.host}, but the secret in its body is only for ${url.host}`;
  return new PipelineError('bad-answer', message, {
    hint: `log in with a user name and password, or configure ${to.host} as the registry's token service`,
  });
}

/**
 * The request that a redirect asks for; undefined when the answer is none that can be followed. 301 to 303 turn a write into a
 * GET, so only reads follow them.
 */
function redirectOf(answer: Answer, request: TransportRequest): TransportRequest | undefined {
  const keepsMethod = answer.status === 307 || answer.status === 308;
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const follows = keepsMethod || (reads && [301, 302, 303].includes(answer.status));
  const location = headerOf(answer, 'location');
  if (!follows || location === undefined || !URL.canParse(location, request.url.href)) return undefined;
  const url = new URL(location, request.url);
  // A redirect must not bring credentials: it is handed on as an answer.
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.origin === request.url.origin) return { ...request, url };
  // Once away from the origin the credentials stay away, even if a later redirect leads back.
  const { authorization: _, ...rest } = request;
  return { ...rest, url };
}

/**
 * Remembers a host that never answered in spite of all tries, so that a thousand references to
 * it fail at once instead of one after another.
 */
async function untilDown<T>(host: HostState, { clock }: Retrying, work: () => Promise<T>): Promise<T> {
  if (host.down && clock.now() < host.down.until) throw host.down.error;
  const answersBefore = host.answers;
  try {
    return await work();
  } catch (error) {
    const silent = error instanceof PipelineError && error.code === 'unreachable' && error.retryable;
    if (silent && host.answers === answersBefore) {
      host.down = { until: clock.now() + DOWN_FOR, error };
    }
    throw error;
  }
}
