/**
 * Proof of who asks, for one registry: it is pinged once, its challenge says whether it wants
 * nothing, a name and a password, or a token of a service that it names.
 */
import { PipelineError } from '../../error.ts';
import type { Clock, Credential, CredentialSource } from '../../ports.ts';
import type { Answer } from './http/exchange.ts';
import type { Budget } from './http/retry.ts';
import type { Transport } from './http/transport.ts';
import { failureOf } from './response.ts';
import { basicHeader, bearerHeader, createTokens, type TokenService, type Tokens } from './token.ts';

/** The permission that a request needs. */
export interface Access {
  readonly repository: string;
  readonly actions: 'pull' | 'pull,push' | 'pull,push,delete';
  /** Another repository that is read, to mount a blob from. */
  readonly from?: string;
}

export interface Authentication {
  /** The `Authorization` header for a request; undefined to send none. */
  header(access: Access, budget: Budget): Promise<string | undefined>;
  /**
   * Takes in that the registry refused a request with 401.
   *
   * @param sent the header that was refused
   * @returns whether the same request may go better now
   */
  refused(access: Access, answer: Answer, sent: string | undefined): boolean;
  /**
   * Takes in that a request was refused for good, with a proof that may have been revoked.
   *
   * @returns whether there is another proof now
   */
  renewed(access: Access, sent: string | undefined): Promise<boolean>;
}

interface AuthenticationOptions {
  /** The registry as references name it: credentials are filed under this name. */
  readonly registry: string;
  /** Address of its API. */
  readonly base: URL;
  readonly transport: Transport;
  readonly credentials: CredentialSource;
  readonly clock: Clock;
}

type Scheme =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic' }
  | ({ readonly kind: 'bearer' } & TokenService);

/**
 * Finds the proof for each request to one registry: it learns from refusals which scheme and scopes the registry wants.
 */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { registry, credentials, transport, clock } = options;
  let scheme: Scheme | undefined;
  let ping: Promise<Scheme> | undefined;
  /** Tokens by the credential that got them, as JSON: what one may do, another may not. */
  const tokensByCredential = new Map<string, Tokens>();
  const scopes = createScopes();

  // Requests that begin at the same time wait for one ping.
  const knownScheme = async (budget: Budget): Promise<Scheme> => {
    if (scheme) return scheme;
    ping ??= askScheme(options, budget).finally(() => {
      ping = undefined;
    });
    scheme = await ping;
    return scheme;
  };
  const tokensFor = (credential: Credential | undefined): Tokens => {
    const key = JSON.stringify(credential ?? null);
    const tokens =
      tokensByCredential.get(key) ??
      createTokens({ transport, clock, credential, service: () => serviceOf(scheme) });
    tokensByCredential.set(key, tokens);
    return tokens;
  };
  const header = async (access: Access, budget: Budget): Promise<string | undefined> => {
    const { kind } = await knownScheme(budget);
    const credential = await credentials.credential({ registry, repository: access.repository });
    // It is sent as it is, whatever the registry asks for.
    if (credential?.kind === 'bearer') return bearerHeader(credential);
    if (kind === 'none') return undefined;
    // An identity token is only for token services: where a password is wanted, the request is anonymous.
    if (kind === 'basic') return credential?.kind === 'basic' ? basicHeader(credential) : undefined;
    const token = async (owner: Credential | undefined): Promise<string> =>
      `Bearer ${await tokensFor(owner).get(scopes.scopesOf(access), budget)}`;
    try {
      return await token(credential);
    } catch (error) {
      const isDenied = error instanceof PipelineError && error.code === 'denied';
      const about = { registry, repository: access.repository };
      // The password may have been replaced since it was read: then the token is asked for with the new one.
      if (!isDenied || !credential || !(await credentials.refused?.(about, credential))) throw error;
      return token(await credentials.credential(about));
    }
  };

  const refused = (access: Access, answer: Answer, sent: string | undefined): boolean => {
    const before = scheme;
    const asked = challengeOf(answer);
    if (asked) scheme = schemeOf(asked, registry);
    // The same password would be refused again; one that was not asked for before may help.
    if (scheme?.kind !== 'bearer') return scheme?.kind === 'basic' && before?.kind !== 'basic';
    const token = sent?.replace(/^Bearer /, '');
    // Nobody knows here which credential got the token; the others do not have it, and keep theirs.
    if (token !== undefined)
      for (const tokens of tokensByCredential.values()) tokens.reject(scopes.scopesOf(access), token);
    scopes.demand(access, asked?.parameters.get('scope'));
    return true;
  };
  const renewed = async (access: Access, sent: string | undefined): Promise<boolean> => {
    const about = { registry, repository: access.repository };
    // A source without `refused` has no other credential to give, nor is there one for an anonymous request.
    const credential = credentials.refused && (await credentials.credential(about));
    if (!credential || sent === undefined) return false;
    // Another request was refused with the same old password, and has had it replaced already.
    if (credential.kind === 'basic' && scheme?.kind === 'basic' && basicHeader(credential) !== sent)
      return true;
    const hasNewCredential = (await credentials.refused?.(about, credential)) ?? false;
    if (scheme?.kind !== 'bearer' || credential.kind === 'bearer') return hasNewCredential;
    // The token may also have been revoked before its expiry.
    tokensFor(credential).reject(scopes.scopesOf(access), sent.replace(/^Bearer /, ''));
    return true;
  };
  return { header, refused, renewed };
}

/** Which scopes to ask tokens for. */
interface Scopes {
  /** The scopes for the permissions that a request needs, the one that the registry demanded first. */
  scopesOf(access: Access): readonly string[];
  /** The registry named a scope that it wants to see. */
  demand(access: Access, scope: string | undefined): void;
}

/** What a registry demanded once for a kind of access is asked for first from then on. */
function createScopes(): Scopes {
  const demanded = new Map<string, string>();
  return {
    scopesOf: (access) => {
      const own = ownScopes(access);
      const more = demanded.get(own.join(' '));
      // Some services read only the first scope: the one that the registry itself named.
      return more === undefined ? own : [more, ...own];
    },
    demand: (access, scope) => {
      const own = ownScopes(access);
      if (scope === undefined || own.includes(scope) || !isAbout(scope, access.repository)) return;
      demanded.set(own.join(' '), scope);
    },
  };
}

/** The scopes that a request needs, as token services write them. */
function ownScopes({ repository, actions, from }: Access): string[] {
  const own = `repository:${repository}:${actions}`;
  return from === undefined ? [own] : [own, `repository:${from}:pull`];
}

/** A registry may ask for other actions, not choose for which other repository we ask a token. */
function isAbout(demand: string, repository: string): boolean {
  return demand.split(' ').every((scope) => scope.startsWith(`repository:${repository}:`));
}

/** The token service of a registry. Nobody asks for a token before the registry has named one. */
function serviceOf(scheme: Scheme | undefined): TokenService {
  if (scheme?.kind !== 'bearer') throw new Error('a token was requested before a challenge');
  return scheme;
}

/** Asks a registry which proof it wants. One that redirects `/v2/` to another host wants none itself. */
async function askScheme(
  { base, registry, transport }: AuthenticationOptions,
  budget: Budget,
): Promise<Scheme> {
  const url = new URL('/v2/', base);
  const work = async (inner: Budget): Promise<Scheme> => {
    const answer = await transport.send(
      { method: 'GET', url, isLook: true, isGreeting: true, what: 'the greeting /v2/' },
      inner,
    );
    await answer.discard();
    // The challenge of another host is not this registry's: do not send this registry's credentials to that token service.
    if (answer.url.origin !== base.origin) return { kind: 'none' };
    const asked = answer.status === 401 ? challengeOf(answer) : undefined;
    return asked === undefined ? { kind: 'none' } : schemeOf(asked, registry);
  };
  return transport.attempt(base.host, work, budget);
}

/** The challenge that we can meet; a token before a password. */
function challengeOf(answer: Answer): Challenge | undefined {
  const challenges = parseChallenges(answer.headers['www-authenticate'] ?? '');
  return (
    challenges.find(({ scheme }) => scheme === 'bearer') ??
    challenges.find(({ scheme }) => scheme === 'basic')
  );
}

/**
 * What a challenge asks for.
 *
 * @throws PipelineError `bad-answer` for a token service that cannot be asked safely
 */
function schemeOf({ scheme, parameters }: Challenge, registry: string): Scheme {
  if (scheme === 'basic') return { kind: 'basic' };
  const realm = parameters.get('realm') ?? '';
  if (!URL.canParse(realm)) {
    throw new PipelineError('bad-answer', `${registry} does not name a valid token service`);
  }
  const url = new URL(realm);
  if (url.username !== '' || url.password !== '') {
    throw new PipelineError('bad-answer', `${registry} names a token service with a password in it`);
  }
  return { kind: 'bearer', realm: url, service: parameters.get('service') };
}

/** An `Authorization` header for one request to a host that a redirect led to, without credentials. */
export async function anonymousHeader(
  answer: Answer,
  { transport, clock }: Pick<AuthenticationOptions, 'transport' | 'clock'>,
  budget: Budget,
): Promise<string> {
  const asked = challengeOf(answer);
  if (asked?.scheme !== 'bearer') throw await failureOf(answer, 'a request that was redirected');
  const scheme = schemeOf(asked, answer.url.host);
  const scope = asked.parameters.get('scope');
  const tokens = createTokens({ transport, clock, credential: undefined, service: () => serviceOf(scheme) });
  return `Bearer ${await tokens.get(scope === undefined ? [] : [scope], budget)}`;
}

// `WWW-Authenticate`: what a registry wants to see before it answers.
//
// @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
// @see https://distribution.github.io/distribution/spec/auth/token/

/** One challenge; names of schemes and parameters in lower case. */
interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

// The grammar of RFC 9110 section 11.2. Sticky (`y`): each matches only where reading has come to.
const TOKEN = /[\w!#$%&'*+.^`|~-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const TOKEN68 = /[\w.~+/-]+=*(?=\s*(?:,|$))/y;
const SPACE = /\s*/y;

/**
 * The challenges of a header, several of which may stand in one line. Reading ends where something is neither a scheme nor a
 * parameter: what was read before counts, and what follows is ignored.
 */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(header) ?? undefined;
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < header.length) {
    take(SPACE);
    if (header[at] === ',') {
      at++;
      continue;
    }
    const name = take(TOKEN)?.[0].toLowerCase();
    if (name === undefined) break;
    take(SPACE);
    if (header[at] !== '=') {
      // Not a parameter, so a scheme; it may have one bare token instead of parameters.
      challenges.push({ scheme: name, parameters: new Map() });
      take(TOKEN68);
      continue;
    }
    at++;
    take(SPACE);
    const quoted = take(QUOTED)?.[1];
    const value = quoted === undefined ? take(TOKEN)?.[0] : quoted.replace(/\\(.)/g, '$1');
    if (value === undefined) break;
    // A parameter in front of all schemes belongs to none, and is passed over.
    challenges.at(-1)?.parameters.set(name, value);
  }
  return challenges;
}
