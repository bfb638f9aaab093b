/**
 * Connections to hosts: kept alive, over TLS unless a host is named as plain, directly or
 * through a proxy, and only to addresses that the rule allows.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, rootCertificates, type SecureContext, connect as tlsConnect } from 'node:tls';
import { PipelineError } from '../../../error.ts';
import {
  type AddressRule,
  checkLiteral,
  guardedLookup,
  hostAndPort,
  type Resolver,
  refusedHost,
} from './addresses.ts';
import { type ProxyChoice, proxyAuthorization } from './proxy.ts';

interface ConnectionOptions {
  readonly addresses: AddressRule;
  readonly resolver: Resolver;
  readonly proxy: ProxyChoice;
  /** Certificates of private authorities, PEM, trusted beside the public ones. */
  readonly authorities: readonly string[];
  /** Milliseconds until a tunnel through a proxy must stand. */
  readonly connectTimeout: number;
}

/** How one request reaches its host: options for `http.request` or `https.request`. */
interface Route {
  readonly secure: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Connections {
  /** @throws PipelineError `not-allowed` for an address that is refused */
  route(url: URL): Promise<Route>;
  /** Closes the connections that are kept. */
  close(): void;
}

/** The kept connection that was used last serves next: the host is the least likely to have closed that one. */
const KEEP = { keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' } as const;

interface Agents {
  plain(): HttpAgent;
  secure(): HttpAgent;
  /** For TLS through a proxy. */
  tunnel(proxy: URL): HttpAgent;
  close(): void;
}

/** Agents that keep connections open: one for HTTP, one for HTTPS, and one for each proxy. */
function createAgents({ authorities, connectTimeout }: ConnectionOptions): Agents {
  // Made once and shared: reading a hundred authorities for each connection, and spelling them
  // out in the name under which the agent keeps it, costs more than all the rest of a request.
  let trust: SecureContext | undefined;
  // Own authorities replace Node's list, so they are added to it.
  const secureContext = (): SecureContext => {
    trust ??= createSecureContext(
      authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] },
    );
    return trust;
  };
  const agents = new Map<string, HttpAgent>();
  const agentFor = (key: string, make: () => HttpAgent): HttpAgent => {
    const agent = agents.get(key) ?? make();
    agents.set(key, agent);
    return agent;
  };
  return {
    plain: () => agentFor('http:', () => new HttpAgent(KEEP)),
    secure: () => agentFor('https:', () => new HttpsAgent({ ...KEEP, secureContext: secureContext() })),
    tunnel: (proxy) => agentFor(proxy.href, () => tunnelAgent(proxy, secureContext(), connectTimeout)),
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Finds the way to each host: direct, or through a proxy. Addresses that are not allowed are refused. */
export function createConnections(options: ConnectionOptions): Connections {
  const agents = createAgents(options);
  /** The parts that all direct requests to one host share. */
  const direct = new Map<string, Readonly<Record<string, unknown>>>();
  /** An address in the URL is checked now; those of a name whenever it is looked up. */
  const directTo = (url: URL): Readonly<Record<string, unknown>> => {
    checkLiteral(options.addresses, url);
    const fresh = {
      hostname: hostname(url),
      port: url.port,
      agent: url.protocol === 'https:' ? agents.secure() : agents.plain(),
      lookup: guardedLookup(options.addresses, url, options.resolver),
    };
    direct.set(url.origin, fresh);
    return fresh;
  };
  /** Answers by host: a network behind a proxy may have no names, and take its time to say so each time. */
  const checks = new Map<string, Promise<void>>();
  const checkOnce = (url: URL): Promise<void> => {
    const check = checks.get(url.origin) ?? checkProxied(url, options);
    checks.set(url.origin, check);
    return check;
  };
  const throughProxy = async (url: URL, proxy: URL): Promise<Route> => {
    await checkOnce(url);
    if (url.protocol === 'https:') {
      const place = { hostname: hostname(url), port: url.port, path: pathOf(url) };
      return { secure: true, headers: {}, options: { ...place, agent: agents.tunnel(proxy) } };
    }
    // Plain HTTP needs no tunnel: the proxy is asked for the whole address.
    const isSecure = proxy.protocol === 'https:';
    return {
      secure: isSecure,
      headers: { host: url.host, ...authorization(proxy) },
      options: {
        hostname: hostname(proxy),
        port: proxy.port,
        path: url.href,
        agent: isSecure ? agents.secure() : agents.plain(),
      },
    };
  };

  return {
    route: async (url) => {
      const shared = direct.get(url.origin);
      // Whether a host is reached through a proxy is asked once: a copy sends it thousands of requests.
      const proxy = shared ? undefined : options.proxy(url);
      if (proxy !== undefined) return throughProxy(url, proxy);
      return {
        secure: url.protocol === 'https:',
        headers: {},
        options: { ...(shared ?? directTo(url)), path: pathOf(url) },
      };
    },
    close: agents.close,
  };
}

function pathOf(url: URL): string {
  return `${url.pathname}${url.search}`;
}

/** The host of a URL as Node wants it: IPv6 without brackets. */
function hostname(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function authorization(proxy: URL): Record<string, string> {
  const header = proxyAuthorization(proxy);
  return header === undefined ? {} : { 'proxy-authorization': header };
}

/**
 * A proxy looks names up itself. What is known here is checked all the same: a name that this
 * machine resolves to an internal address only is refused; one that it cannot resolve is
 * for the proxy to check.
 */
async function checkProxied(url: URL, { addresses, resolver }: ConnectionOptions): Promise<void> {
  checkLiteral(addresses, url);
  const found = await resolver(hostname(url)).catch(() => []);
  if (found.length > 0 && !found.some(({ address }) => addresses.allows(hostAndPort(url), address))) {
    throw refusedHost(url.host);
  }
}

/** An agent whose connections are TLS inside a CONNECT tunnel. */
function tunnelAgent(proxy: URL, secureContext: SecureContext, timeout: number): HttpAgent {
  const agent = new HttpsAgent({ ...KEEP, secureContext });
  const create = (
    options: { host?: string; port?: number | string; servername?: string; ca?: string[] },
    done: (error: Error | null, socket?: Duplex) => void,
  ): undefined => {
    const host = options.host ?? '';
    const authority = `${host.includes(':') ? `[${host}]` : host}:${options.port || 443}`;
    openTunnel(proxy, authority, timeout).then(
      (socket) =>
        done(null, tlsConnect({ secureContext, socket, host, servername: options.servername ?? host })),
      (error: Error) => done(error),
    );
  };
  // Node calls it for each connection that the agent needs, in place of its own.
  (agent as unknown as { createConnection: typeof create }).createConnection = create;
  return agent;
}

/** Opens a tunnel through a proxy. @throws an error if the proxy refuses or does not respond */
function openTunnel(proxy: URL, authority: string, timeout: number): Promise<Duplex> {
  const connect = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = connect({
      hostname: hostname(proxy),
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...authorization(proxy) },
      timeout,
      agent: false,
    });
    request.once('timeout', () => request.destroy(new Error('the proxy does not respond')));
    request.once('error', reject);
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(refusedByProxy(proxy, authority, answer.statusCode ?? 0));
    });
    request.end();
  });
}

/** The error for a tunnel that a proxy does not open: 403 and 407 are about who asks, the others about the host. */
function refusedByProxy(proxy: URL, authority: string, status: number): PipelineError {
  const code = status === 403 || status === 407 ? 'denied' : 'unreachable';
  return new PipelineError(code, `the proxy ${proxy.host} returned ${status} for ${authority}`, {
    retryable: status >= 500,
  });
}
