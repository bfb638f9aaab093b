/**
 * A client for registries: the `Registry` port over HTTP. It asks no host that is not allowed,
 * sends no credential to any but the registry it belongs to, and believes no digest that it has
 * not computed where it has the bytes.
 */
import { type Reference, repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type {
  Clock,
  CredentialSource,
  Manifest,
  PutManifestOptions,
  Registry,
  Repository,
} from '../../ports.ts';
import { getBlob, hasBlob } from './blob.ts';
import { CHUNK } from './chunks.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { addressRule, type Resolver, systemResolver } from './http/addresses.ts';
import { createConnections } from './http/connection.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './http/exchange.ts';
import { type Environment, proxiesFrom } from './http/proxy.ts';
import { DEFAULT_RETRY, type RetryOptions, systemClock } from './http/retry.ts';
import { createTransport, type Traffic, type Transport } from './http/transport.ts';
import { isManifestType, parseManifest } from './image.ts';
import { deleteManifest, getManifest, putManifest, resolveManifest } from './manifest.ts';
import { isHost, isRepository } from './name.ts';
import { forgetReferrer, listReferrers, noteReferrer } from './referrers.ts';
import { listTags } from './tags.ts';
import { putBlob } from './upload.ts';

/** How hosts are asked, whatever for. */
interface TransportChoices {
  /** Hosts (`name`, `name:port`) and ranges (`10.0.0.0/8`) of internal networks that may be connected to. */
  readonly internal?: readonly string[];
  /** Hosts, with their ports, that speak plain HTTP. */
  readonly plainHttp?: readonly string[];
  /** Certificates of private authorities, PEM. */
  readonly authorities?: readonly string[];
  /** `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`; no proxy when left out. */
  readonly environment?: Environment;
  /** Requests at a time to one host at most; 48 when left out. */
  readonly concurrency?: number;
  /** The same for a host that is far away; as many as to any other when left out. */
  readonly distantConcurrency?: number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryOptions>;
  /** Ends all that the client does. */
  readonly signal?: AbortSignal;
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly resolver?: Resolver;
  readonly random?: () => number;
}

export interface ClientOptions extends TransportChoices {
  /** Without credentials, requests are anonymous. */
  readonly credentials?: CredentialSource;
  /** Whether a repository may be asked for at all; everything may when left out. Asked before any request. */
  readonly allows?: (repository: Repository) => boolean;
  /** Bytes of a manifest at most; 4 MiB when left out. */
  readonly largestManifest?: number;
  /** Bytes of an upload's chunk; 16 MiB when left out. */
  readonly chunk?: number;
}

export interface RegistryClient extends Registry {
  /** Whether a registry keeps lists of referrers itself; undefined until it was asked for one. */
  keepsReferrers(registry: string): boolean | undefined;
  /** Bytes sent and received so far, by host. */
  traffic(): ReadonlyMap<string, Traffic>;
  /** Closes the connections that are kept for further requests. */
  close(): void;
}

/** The manifest size that every registry must accept: 4 MiB. */
export const LARGEST_MANIFEST: number = 4 * 1024 * 1024;
const ANONYMOUS: CredentialSource = { credential: async () => undefined };

/** A client of OCI registries. @throws PipelineError `usage` for a proxy variable that cannot be used */
export function createRegistryClient(options: ClientOptions = {}): RegistryClient {
  const { transport, endpointOf, endpoints } = sharedParts(options);
  const limit = options.largestManifest ?? LARGEST_MANIFEST;
  const chunk = options.chunk ?? CHUNK;
  const referrersOf = async (of: Repository, digest: string, artifactType?: string) =>
    listReferrers(endpointOf(of), of, { digest, artifactType, limit });
  return {
    resolve: async (reference) => resolveManifest(endpointOf(reference), reference, limit),
    getManifest: async (reference) => getManifest(endpointOf(reference), reference, limit),
    async *getBlob(from, blob) {
      yield* getBlob(endpointOf(from), from, blob);
    },
    hasBlob: async (from, digest, size) =>
      hasBlob(endpointOf(from), from, { digest, ...(size !== undefined && { size }) }),
    putBlob: async (to, blob, how) => putBlob(endpointOf(to), to, blob, { chunk, ...how }),
    putManifest: async (to, manifest, how) => writeManifest(endpointOf(to), to, { manifest, limit, how }),
    async *listTags(of) {
      yield* listTags(endpointOf(of), of);
    },
    listReferrers: referrersOf,
    deleteManifest: async (reference, how) =>
      removeManifest(endpointOf(reference), reference, { limit, within: how?.within }),
    keepsReferrers: (registry) => endpoints.get(registry)?.learnt.keepsReferrers,
    traffic: transport.traffic,
    close: transport.close,
  };
}

/**
 * How hosts are asked: over HTTPS unless they are named as plain, paced, and tried again.
 *
 * @throws PipelineError `usage` for a proxy variable that cannot be used
 */
export function openTransport(options: TransportChoices): Transport {
  const concurrency = options.concurrency ?? 48;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const connections = createConnections({
    addresses: addressRule(options.internal ?? []),
    resolver: options.resolver ?? systemResolver,
    proxy: proxiesFrom(options.environment ?? {}),
    authorities: options.authorities ?? [],
    connectTimeout: timeouts.silence,
  });
  return createTransport({
    connections,
    plainHosts: new Set(options.plainHttp ?? []),
    concurrency,
    distantConcurrency: Math.max(concurrency, options.distantConcurrency ?? 0),
    timeouts,
    retrying: {
      options: { ...DEFAULT_RETRY, ...options.retry },
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
    },
    userAgent: options.userAgent ?? 'portolan',
    signal: options.signal,
  });
}

/** What all requests of a client share: the transport, and an endpoint for each registry. */
function sharedParts(options: ClientOptions): {
  transport: Transport;
  endpointOf: (repository: Repository) => Endpoint;
  endpoints: ReadonlyMap<string, Endpoint>;
} {
  const clock = options.clock ?? systemClock;
  const plainHosts = new Set(options.plainHttp ?? []);
  const transport = openTransport(options);
  const credentials = options.credentials ?? ANONYMOUS;
  const endpoints = new Map<string, Endpoint>();
  const endpointOf = (repository: Repository): Endpoint => {
    checkRepository(repository, options.allows);
    const { registry } = repository;
    const earlier = endpoints.get(registry);
    if (earlier) return earlier;
    const fresh = createEndpoint(registry, { transport, credentials, clock, plainHosts });
    endpoints.set(registry, fresh);
    return fresh;
  };
  return { transport, endpointOf, endpoints };
}

/**
 * Checks that a repository may be asked for.
 *
 * @throws PipelineError `usage` for a name that makes no URL, `not-allowed` for one that may not be asked for
 */
function checkRepository(repository: Repository, allows: ClientOptions['allows']): void {
  if (!isHost(repository.registry) || !isRepository(repository.repository)) {
    throw new PipelineError('usage', 'invalid registry or repository name');
  }
  if (allows && !allows(repository)) {
    throw new PipelineError('not-allowed', `${repositoryName(repository)} is not an allowed registry`, {
      hint: `allow ${repository.registry} in the policy`,
    });
  }
}

/**
 * Writes a manifest. If it is about another one and the registry keeps no lists of referrers, the list in a
 * tag gets it, too.
 */
async function writeManifest(
  endpoint: Endpoint,
  to: Reference,
  { manifest, limit, how }: { manifest: Manifest; limit: number; how: PutManifestOptions | undefined },
): Promise<void> {
  const noted = await putManifest(endpoint, to, manifest, how);
  // A registry that takes note of the subject lists referrers itself.
  if (noted !== undefined || !isManifestType(manifest.mediaType)) return;
  await noteReferrer(endpoint, to, { manifest, parsed: parseManifest(manifest), limit });
}

/**
 * Deletes a manifest, and its line in the list of referrers that stands in a tag if the registry has no API for them.
 */
async function removeManifest(
  endpoint: Endpoint,
  reference: Reference,
  { limit, within }: { readonly limit: number; readonly within: number | undefined },
): Promise<boolean> {
  // Read before it is gone: it names its subject. The manifest of a removed tag stays, and stays in its list.
  const manifest = reference.kind === 'digest' ? await getManifest(endpoint, reference, limit) : undefined;
  const removed = await deleteManifest(endpoint, reference, within === undefined ? {} : { within });
  const subject =
    manifest && isManifestType(manifest.mediaType) ? parseManifest(manifest).subject?.digest : undefined;
  if (removed && manifest && subject !== undefined) {
    await forgetReferrer(endpoint, reference, { digest: manifest.digest, subject, limit });
  }
  return removed;
}
