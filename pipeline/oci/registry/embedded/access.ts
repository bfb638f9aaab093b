/**
 * Who may do what in the registry: nobody is asked, or a name and a password, or tokens that
 * the registry gives out itself, as those on the internet do.
 *
 * @see https://distribution.github.io/distribution/spec/auth/token/
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../../../catalog/json.ts';
import { jsonReply, type Reply, refusalReply } from './reply.ts';

/**
 * Whether a password is the one of a name.
 *
 * @param address of the client, for limits
 * @throws PipelineError `rate-limited` after too many wrong passwords
 */
export type PasswordCheck = (name: string, password: string, address: string) => Promise<boolean>;

export interface AccessOptions {
  readonly kind: 'basic' | 'token';
  /** Passwords by name, or what knows them. */
  readonly accounts: Readonly<Record<string, string>> | PasswordCheck;
  /** Whether everybody may read. */
  readonly anonymousPull?: boolean;
  /** The time in milliseconds, by which tokens end; that of the machine when left out. */
  readonly now?: () => number;
}

export type Action = 'pull' | 'push' | 'delete';

/** The access that a request needs; without a repository, to the registry as a whole. */
interface AccessRequest {
  readonly repository?: string;
  readonly action: Action;
  /** Whether it lists the repositories, which only accounts may. */
  readonly listsAll?: boolean;
}

export interface Gate {
  /** Undefined when the request may go on, else the answer to it. */
  check(request: IncomingMessage, wanted: AccessRequest): Promise<Reply | undefined>;
  /** Answers a request for a token; undefined when there are none here. */
  token(request: IncomingMessage, query: URLSearchParams): Promise<Reply | undefined>;
}

interface Claims {
  /** Milliseconds since 1970, by `AccessOptions.now`. */
  readonly expires: number;
  readonly isAccount: boolean;
  /** `repository:name:actions`. */
  readonly scopes: readonly string[];
}

/** Where tokens are given out: `routeOf` knows the path, too. */
const REALM_PATH = '/token';

/** Seconds that a token lasts. */
const TOKEN_LIFE = 300;

/** Decides who may use the registry: everybody without options, else by passwords or by tokens. */
export function createGate(options: AccessOptions | undefined, origin: () => string): Gate {
  if (options === undefined) return { check: async () => undefined, token: async () => undefined };
  return options.kind === 'basic' ? basicGate(options) : tokenGate(options, origin);
}

/** Admits requests by a name and a password in each of them. */
function basicGate(options: AccessOptions): Gate {
  const challenge = { 'www-authenticate': 'Basic realm="portolan"' };
  return {
    check: async (request, { action, repository }) => {
      // Without a repository it is the greeting or the list of repositories: these need an account.
      const isOpen = options.anonymousPull === true && action === 'pull' && repository !== undefined;
      return isOpen || (await accountOf(request, options)) !== undefined
        ? undefined
        : unauthorized(challenge);
    },
    token: async () => undefined,
  };
}

/**
 * Admits requests by tokens, which it gives to accounts by their rights, and to everybody else by those of anonymous
 * users.
 */
function tokenGate(options: AccessOptions, origin: () => string): Gate {
  const secret = randomBytes(32);
  const { now = Date.now } = options;
  const check: Gate['check'] = async (request, { repository, action, listsAll }) => {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const claims = token === undefined ? undefined : readToken(token, secret);
    const isKnown = claims !== undefined && claims.expires > now();
    // Without a repository it is the greeting, for every token, or the list of repositories, for those of accounts.
    const mayUse = (known: Claims): boolean =>
      repository === undefined ? known.isAccount || listsAll !== true : allows(known, repository, action);
    if (isKnown && mayUse(claims)) return undefined;
    // Clients that write also look before they send, with the same token.
    const actions = action === 'pull' ? 'pull' : `pull,${action}`;
    const scope = repository === undefined ? '' : `,scope="repository:${repository}:${actions}"`;
    // Tells a client that sent a token whether to ask for one with more rights, or for a new one (RFC 6750).
    const defect = isKnown ? 'insufficient_scope' : 'invalid_token';
    const error = token === undefined ? '' : `,error="${defect}"`;
    const realm = `Bearer realm="${origin()}${REALM_PATH}",service="portolan"`;
    return unauthorized({ 'www-authenticate': realm + scope + error });
  };
  const token: Gate['token'] = async (request, query) => {
    const account = await accountOf(request, options);
    // A wrong password must not turn into anonymous access.
    if (account === undefined && request.headers.authorization !== undefined) return unauthorized({});
    const scopes = query
      .getAll('scope')
      .flatMap((scope) => scope.split(' '))
      .flatMap((scope) => grantedScopes(scope, account !== undefined, options));
    const claims: Claims = { expires: now() + TOKEN_LIFE * 1000, isAccount: account !== undefined, scopes };
    return jsonReply(200, { token: writeToken(claims, secret), expires_in: TOKEN_LIFE });
  };
  return { check, token };
}

/** The answer to a request without the proof that it needs, and what proof that is. */
function unauthorized(challenge: Readonly<Record<string, string>>): Reply {
  const reply = refusalReply(401, 'UNAUTHORIZED', 'authentication required');
  return { ...reply, headers: { ...reply.headers, ...challenge } };
}

/** The name of the account that a request proves, by a name and a password; undefined if it proves none. */
async function accountOf(request: IncomingMessage, { accounts }: AccessOptions): Promise<string | undefined> {
  const encoded = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const [name, password] = [text.slice(0, colon), text.slice(colon + 1)];
  if (typeof accounts === 'function')
    return (await accounts(name, password, request.socket.remoteAddress ?? '')) ? name : undefined;
  return Object.hasOwn(accounts, name) && isEqual(password, accounts[name] ?? '') ? name : undefined;
}

/** Compares in a time that does not depend on where texts differ: by digests, as `timingSafeEqual` wants equal lengths. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The part of a scope that a client may have: accounts may do everything, all others may pull where that is allowed. */
function grantedScopes(scope: string, isAccount: boolean, options: AccessOptions): string[] {
  const [, name, actions = ''] = /^repository:([^:]+):([a-z,*]+)$/.exec(scope) ?? [];
  if (name === undefined) return [];
  if (isAccount) return [`repository:${name}:${actions}`];
  return options.anonymousPull === true && actions.split(',').includes('pull')
    ? [`repository:${name}:pull`]
    : [];
}

/** Whether a token's scopes allow an action in a repository. */
function allows({ scopes }: Claims, repository: string, action: Action): boolean {
  const prefix = `repository:${repository}:`;
  return scopes.some(
    (scope) => scope.startsWith(prefix) && scope.slice(prefix.length).split(',').includes(action),
  );
}

/** A token of this registry: what it allows, signed with a secret that only this run knows. */
function writeToken(claims: Claims, secret: Buffer): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}

/** What a token allows; undefined for one that this run has not signed. */
function readToken(token: string, secret: Buffer): Claims | undefined {
  const [body = '', signature = ''] = token.split('.');
  const expected = createHmac('sha256', secret).update(body).digest('base64url');
  return isEqual(signature, expected) ? (parseJson(Buffer.from(body, 'base64url')) as Claims) : undefined;
}
