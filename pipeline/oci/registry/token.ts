/**
 * Bearer tokens of one registry and one credential: fetched when first needed, shared by all
 * that need the same, renewed before they end. Many repositories that are only read are asked
 * for together, as the token protocol allows, so that a thousand images in a thousand
 * repositories do not cost a thousand tokens.
 *
 * @see https://distribution.github.io/distribution/spec/auth/token/
 * @see https://distribution.github.io/distribution/spec/auth/oauth/
 */

import { parseJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import type { Clock, Credential } from '../../ports.ts';
import { keepAuthorization, keepSecret } from '../../secrets.ts';
import type { Budget } from './http/retry.ts';
import type { Transport } from './http/transport.ts';
import { failureOf, readAll } from './response.ts';
import { streamOf } from './stream.ts';

/** Where tokens are had: from the registry's challenge. */
export interface TokenService {
  readonly realm: URL;
  readonly service: string | undefined;
}

interface TokenOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** The service that the registry named last; throws before it has named one. */
  readonly service: () => TokenService;
  readonly credential: Credential | undefined;
}

export interface Tokens {
  /** A token that is good for all the scopes. */
  get(scopes: readonly string[], budget: Budget): Promise<string>;
  /** The registry did not take a token for these scopes: it is fetched anew, by itself. */
  reject(scopes: readonly string[], token: string): void;
}

interface Token {
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Scopes in one token: headers are limited to 8 KiB by common servers, a scope takes about 150 bytes. */
const SCOPES_PER_TOKEN = 20;
/** Fetches of shared tokens at a time: scopes that come meanwhile are collected for the next one. */
const FETCHES_AT_A_TIME = 4;
/** Bytes of a token service's answer at most. */
const TOKEN_BODY = 256 * 1024;
/** Seconds, when the token service does not say; the protocol's own default. */
const DEFAULT_LIFE = 60;
/** Scopes that may share a token: to read one repository. */
const READ_ONLY = /^repository:[^:]+:pull$/;

/**
 * Tokens of one registry and credential, kept until shortly before they expire. Requests for the same scopes share one.
 */
export function createTokens(options: TokenOptions): Tokens {
  const { clock } = options;
  const tokens = new Map<string, Token>();
  const underWay = new Map<string, Promise<Token>>();
  /** Scopes that a shared token did not serve: they get tokens of their own. */
  const unshared = new Set<string>();
  const batches = createBatches(options);

  const fetchOrJoin = async (scopes: readonly string[], budget: Budget): Promise<Token> => {
    const [scope] = scopes;
    const together =
      scopes.length === 1 && scope !== undefined && READ_ONLY.test(scope) && !unshared.has(scope);
    if (!together) return fetchToken(options, scopes, budget);
    return batches.join(scope, budget);
  };
  return {
    get: async (scopes, budget) => {
      const key = scopes.join(' ');
      const token = tokens.get(key);
      if (token && token.expires > clock.now()) return token.value;
      const running = underWay.get(key);
      if (running) return (await running).value;
      const fetching = fetchOrJoin(scopes, budget).finally(() => underWay.delete(key));
      underWay.set(key, fetching);
      const fresh = await fetching;
      tokens.set(key, fresh);
      return fresh.value;
    },
    reject: (scopes, token) => {
      const key = scopes.join(' ');
      unshared.add(key);
      if (tokens.get(key)?.value === token) tokens.delete(key);
    },
  };
}

interface PendingScope {
  readonly scope: string;
  readonly budget: Budget;
  readonly done: (token: Token) => void;
  readonly failed: (error: unknown) => void;
}

/** Collects scopes that are requested in one tick, or while fetches are under way, into common tokens. */
function createBatches(options: TokenOptions): { join(scope: string, budget: Budget): Promise<Token> } {
  let pending: PendingScope[] = [];
  let running = 0;
  let planned = false;

  const serve = async (batch: readonly PendingScope[]): Promise<void> => {
    const budget = batch[0]?.budget;
    if (budget === undefined) return;
    try {
      const token = await fetchToken(
        options,
        batch.map(({ scope }) => scope),
        budget,
      );
      for (const entry of batch) entry.done(token);
    } catch (error) {
      // One scope that the service dislikes must not fail those that came with it.
      const divide = batch.length > 1 && error instanceof PipelineError && !error.retryable;
      if (divide) await Promise.all(batch.map((entry) => serve([entry])));
      else for (const entry of batch) entry.failed(error);
    }
  };
  const start = (): void => {
    planned = false;
    while (running < FETCHES_AT_A_TIME && pending.length > 0) {
      const batch = pending.slice(0, SCOPES_PER_TOKEN);
      pending = pending.slice(SCOPES_PER_TOKEN);
      running++;
      void serve(batch).finally(() => {
        running--;
        start();
      });
    }
  };
  return {
    join: (scope, budget) =>
      new Promise((done, failed) => {
        pending.push({ scope, budget, done, failed });
        if (!planned) setImmediate(start);
        planned = true;
      }),
  };
}

/** Fetches a token for scopes. @throws PipelineError `denied` when the service does not take the credential */
async function fetchToken(options: TokenOptions, scopes: readonly string[], budget: Budget): Promise<Token> {
  const { transport, clock, credential } = options;
  const service = options.service();
  const host = service.realm.host;
  const work = async (inner: Budget): Promise<Token> => {
    const askedAt = clock.now();
    const answer = await transport.send(
      credential?.kind === 'identity'
        ? refreshRequest(service, scopes, credential.token)
        : tokenRequest(service, scopes, credential),
      inner,
    );
    if (answer.status !== 200) throw await failureOf(answer, 'the token request');
    const token = readToken(await readAll(answer, TOKEN_BODY, 'a token'), host, askedAt);
    // Everybody gets an anonymous token. Cut out of messages all the same, any host could hide words of its choice there.
    if (credential) keepSecret(token.value);
    return token;
  };
  return transport.attempt(host, work, budget);
}

/** The request for a token, with a name and a password or without. */
function tokenRequest(
  { realm, service }: TokenService,
  scopes: readonly string[],
  credential: Credential | undefined,
): Parameters<Transport['send']>[0] {
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set('service', service);
  for (const scope of scopes) url.searchParams.append('scope', scope);
  if (credential?.kind !== 'basic') return { method: 'GET', url, isLook: true, what: 'the token request' };
  url.searchParams.set('account', credential.username);
  return {
    method: 'GET',
    url,
    isLook: true,
    authorization: basicHeader(credential),
    what: 'the token request',
  };
}

/** The request for a token by an identity token. */
function refreshRequest(
  { realm, service }: TokenService,
  scopes: readonly string[],
  refreshToken: string,
): Parameters<Transport['send']>[0] {
  keepSecret(refreshToken);
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: 'portolan',
    scope: scopes.join(' '),
    refresh_token: refreshToken,
  });
  if (service !== undefined) form.set('service', service);
  const bytes = Buffer.from(form.toString());
  return {
    method: 'POST',
    url: realm,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: {
      size: bytes.length,
      open: () => streamOf(bytes),
    },
    isSecret: true,
    isLook: true,
    what: 'the token request',
  };
}

/** The `Authorization` header of a name and a password, which messages then leave out. */
export function basicHeader({ username, password }: Extract<Credential, { kind: 'basic' }>): string {
  const header = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  keepAuthorization(header);
  return header;
}

/** The `Authorization` header of a token, which messages then leave out. */
export function bearerHeader({ token }: Extract<Credential, { kind: 'bearer' }>): string {
  keepSecret(token);
  return `Bearer ${token}`;
}

/** The token in a token service's answer. @param askedAt milliseconds since the epoch @throws PipelineError `bad-answer` */
function readToken(body: Buffer, host: string, askedAt: number): Token {
  const bad = (): PipelineError => new PipelineError('bad-answer', `${host} did not return a valid token`);
  let read: { token?: unknown; access_token?: unknown; expires_in?: unknown };
  try {
    read = Object(parseJson(body));
  } catch {
    throw bad();
  }
  const value = read.token || read.access_token;
  // Anything else cannot stand in a header.
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) throw bad();
  const life = typeof read.expires_in === 'number' && read.expires_in > 0 ? read.expires_in : DEFAULT_LIFE;
  // Renewed a fifth of its life early, at most 10 s: a request under way must not outlive its token.
  return { value, expires: askedAt + (life - Math.min(10, life * 0.2)) * 1000 };
}
