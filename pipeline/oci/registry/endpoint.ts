/** One registry: where its API is, how it is asked with what proof. */
import { PipelineError } from '../../error.ts';
import type { Clock, CredentialSource } from '../../ports.ts';
import { type Access, type Authentication, anonymousHeader, createAuthentication } from './auth.ts';
import type { Answer, Method, RequestBody } from './http/exchange.ts';
import type { Budget } from './http/retry.ts';
import type { Transport, TransportRequest } from './http/transport.ts';
import { type Quirks, quirksOf } from './quirks.ts';

export interface EndpointRequest {
  readonly method: Method;
  /** Below `/v2/`, or in full as the registry gave it. */
  readonly to: string | URL;
  readonly access: Access;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Whether the registry only looks something up. */
  readonly isLook?: boolean;
  /** For messages: `the tag v1 of quay.io/org/name`. */
  readonly what: string;
}

export interface Endpoint {
  readonly registry: string;
  /** Address of its API. */
  readonly base: URL;
  readonly quirks: Quirks;
  /** What was learnt of the registry on the way. */
  readonly learnt: Learnt;
  /** One try, authorised. */
  ask(request: EndpointRequest, budget: Budget): Promise<Answer>;
  /** Tries something until it works, within one budget. */
  attempt<T>(work: (budget: Budget) => Promise<T>): Promise<T>;
  /** The registry's location for the next request, as an absolute URL. */
  follow(location: string | undefined, from: URL): URL;
}

interface Learnt {
  /** Whether it keeps lists of referrers itself; undefined until it was asked for one. */
  keepsReferrers?: boolean;
  /** Whether it goes on with an upload that broke off in a chunk; undefined until one was begun. */
  keepsBroken?: Promise<boolean>;
}

interface EndpointOptions {
  readonly transport: Transport;
  readonly credentials: CredentialSource;
  readonly clock: Clock;
  /** Registries that are asked over plain HTTP. */
  readonly plainHosts: ReadonlySet<string>;
}

/** Refusals of one request for want of proof before that is believed: each may teach a scheme or a scope that is wanted. */
const PROOFS = 2;

/**
 * The address of a registry as a URL.
 *
 * @throws PipelineError `usage` for a host that no address can be made of, such as one with the port 99999
 */
function baseOf(address: string): URL {
  try {
    return new URL(address);
  } catch {
    throw new PipelineError('usage', `${address} is not a valid registry address`);
  }
}

/** One registry: its address, its quirks, what was learned of it, and requests with the right proof. */
export function createEndpoint(registry: string, options: EndpointOptions): Endpoint {
  const { transport, plainHosts } = options;
  const quirks = quirksOf(registry);
  const host = quirks.apiHost ?? registry;
  const base = baseOf(`${plainHosts.has(registry) ? 'http' : 'https'}://${host}`);
  const auth = createAuthentication({ ...options, registry, base });
  const ask = (request: EndpointRequest, budget: Budget): Promise<Answer> => {
    const url = request.to instanceof URL ? request.to : new URL(`/v2/${request.to}`, base);
    return askWithProof({ ...request, url }, { base, auth, options }, budget);
  };
  return {
    registry,
    base,
    quirks,
    learnt: {},
    ask,
    attempt: (work) => transport.attempt(base.host, work),
    follow: (location, from) => followLocation(location, from, base),
  };
}

/** Sends a request with its proof. A refusal is answered with a better proof, a limited number of times. */
async function askWithProof(
  request: EndpointRequest & { readonly url: URL },
  { base, auth, options }: { base: URL; auth: Authentication; options: EndpointOptions },
  budget: Budget,
): Promise<Answer> {
  const { access, url } = request;
  let isRenewed = false;
  for (let refusals = 0; ; refusals++) {
    // A place elsewhere to which the registry sent us has its own proof in its URL.
    const authorization = url.origin === base.origin ? await auth.header(access, budget) : undefined;
    const answer = await options.transport.send({ ...request, authorization }, budget);
    const isAtHome = answer.url.origin === base.origin;
    if (answer.status === 401 && refusals < PROOFS) {
      if (!isAtHome) return askElsewhere(request, answer, { options, budget });
      let goesOn = true;
      try {
        goesOn = auth.refused(access, answer, authorization);
      } finally {
        // An answer that stays open keeps the program from its end, also where it names no way to go on.
        if (goesOn) await answer.discard();
      }
      if (goesOn) continue;
    }
    // Some registries answer 403 to what has expired. Asked once: the other refusals are meant.
    const mayRenew = (answer.status === 401 || answer.status === 403) && isAtHome && !isRenewed;
    if (!mayRenew || !(await auth.renewed(access, authorization))) return answer;
    isRenewed = true;
    await answer.discard();
  }
}

/**
 * A redirect led to another registry, which wants a token of its own: it gets an anonymous one,
 * never our credentials.
 *
 * @see https://github.com/google/go-containerregistry/issues/2359
 */
async function askElsewhere(
  request: TransportRequest,
  answer: Answer,
  { options, budget }: { options: EndpointOptions; budget: Budget },
): Promise<Answer> {
  const authorization = await anonymousHeader(answer, options, budget);
  await answer.discard();
  return options.transport.send({ ...request, url: answer.url, authorization }, budget);
}

/**
 * The URL of the next request, from a `Location` header.
 *
 * @throws PipelineError `bad-answer` where there is none
 */
function followLocation(location: string | undefined, from: URL, base: URL): URL {
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw new PipelineError('bad-answer', `${base.host} does not send the URL to continue`);
  }
  const url = new URL(location, from);
  // Behind a proxy that ends TLS registries write http for themselves.
  if (url.protocol === 'http:' && base.protocol === 'https:' && url.hostname === base.hostname) {
    return new URL(`${base.origin}${url.pathname}${url.search}`);
  }
  return url;
}
