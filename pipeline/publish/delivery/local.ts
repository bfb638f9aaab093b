/**
 * A delivery with no cloud: records and a registry in a directory, a queue in this process. The steps
 * are those of the functions.
 */
import { join } from 'node:path';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { repositoryName } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { GitSettings } from '../../git/process.ts';
import { openRepository, withRepository } from '../../git/repository.ts';
import { directoryStore } from '../../oci/image/stores.ts';
import { formatLocation, oneSpelling, parseLocation } from '../../oci/registry/image-location.ts';
import { openLayout } from '../../oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../oci/registry/layout/registry.ts';
import type { Policy, PublishPolicy } from '../../policy/policy.ts';
import { policyAt, readablePolicyAt } from '../../policy/read-policy.ts';
import type { Forge, Message, Queue, Registry, Repository } from '../../ports.ts';
import { writeFiles } from '../../write.ts';
import { type Current, publishedIn } from '../documents.ts';
import { recordFence } from '../fence-records.ts';
import { publishedCatalogs } from '../published-catalogs.ts';
import { directoryRecords } from '../records/directory.ts';
import { placesOf, targetIn } from '../target.ts';
import { catalogsAt } from './changed.ts';
import { handleMessage } from './handle-delivery.ts';
import { messageOf, type RingMessage, type RingsMessage } from './message.ts';
import { type DeliveryPorts, onBranch, type ReportPorts } from './ports.ts';
import { handleReport } from './report.ts';
import { handleRing, type RingActed } from './ring.ts';
import { ringMessages } from './rings.ts';
import { type DeliveryStatus, statusBeside, statusOf } from './status.ts';

interface LocalRequest {
  /** The clone. */
  readonly repository: string;
  readonly settings: GitSettings;
  /** A revision that stands for the branch. */
  readonly revision: string;
  /** Holds `records`, `registry`, `memory`, and `documents` by catalog; made when it is not there. */
  readonly directory: string;
  readonly now: () => Date;
  readonly log: (line: string) => void;
}

interface LocalDelivery extends DeliveryStatus {
  /** Why messages were put aside, each after five tries. */
  readonly failures: readonly unknown[];
}

/** What the branch and the repository are called in messages, where a revision of a clone stands for them. */
const BRANCH = 'revision';
const REPOSITORY = 'local/catalogs';

/** Where a local delivery keeps its records. */
export function recordsIn(directory: string): string {
  return join(directory, 'records');
}

/**
 * Publishes every catalog of a revision that the policy publishes, as a push of it would.
 *
 * @param client asked for base images; what is published goes into the directory's registry
 * @throws PipelineError `not-found` for the revision, `usage` for a policy that cannot be used or that needs more hosts than
 *   the directory's registry has
 */
export async function deliverLocally(request: LocalRequest, client: Registry): Promise<LocalDelivery> {
  const { directory } = request;
  const { ports, queue, reports, tip } = await openLocal(request, client);
  const { records } = ports;
  const store = directoryStore(join(directory, 'memory'));
  await queue.send(messageOf({ v: 1, kind: 'push', repository: REPOSITORY, branch: BRANCH, commit: tip }));
  await queue.drain((body) => handleMessage(body, ports, { store }));
  // Rings come last: they look at what was published just now.
  for (const message of await localRings(ports)) await queue.send(messageOf(message));
  await queue.drain((body) => handleMessage(body, ports));
  await reports.drain((body) => handleReport(body, ports));
  for (const { catalog, documents } of await publishedIn(records)) {
    await writeDocuments(records, documents, join(directory, 'documents', encodeURIComponent(catalog)));
  }
  return { ...(await statusOf(records)), failures: queue.aside.map(({ error }) => error) };
}

/**
 * Holds, releases or promotes images in the rings of a local delivery.
 *
 * @throws PipelineError as `handleRing`
 */
export async function actOnLocalRings(
  request: LocalRequest,
  client: Registry,
  message: RingMessage,
): Promise<RingActed> {
  const { ports } = await openLocal(request, client);
  return handleRing({ ...message, repository: REPOSITORY, branch: BRANCH }, ports);
}

/** What a local delivery has published, beside the revision and the directory's registry. @throws PipelineError as `openLocal` */
export async function localStatus(request: LocalRequest, client: Registry): Promise<DeliveryStatus> {
  const { ports } = await openLocal(request, client);
  return statusBeside([{ repository: REPOSITORY, branch: BRANCH }], ports);
}

/** The ports of a delivery that needs no cloud: records, queues and registry are in one directory. */
async function openLocal(request: LocalRequest, client: Registry) {
  const { directory, log, now } = request;
  const records = directoryRecords(recordsIn(directory));
  const queue = memoryQueue();
  const reports = memoryQueue();
  const { tip, policy } = await readTip(request);
  const layout = layoutRegistry(await openLayout(join(directory, 'registry'), { create: true }));
  const forge: Forge = {
    report: async ({ commit, context, state, description }) =>
      log(`${commit.slice(0, 12)} ${context}: ${state}: ${description}`),
  };
  const ports: DeliveryPorts & ReportPorts = {
    open: async () => {
      const repository = await openRepository(request.repository, request.settings);
      return { repository, tip, close: repository.close };
    },
    registry: routedRegistry({ layout, client, policy, published: await publishedIn(records) }),
    fence: recordFence(records),
    records,
    queue,
    reports,
    forge,
    now,
    log,
  };
  return { ports, queue, reports, tip };
}

/** The messages for rings that do not all have the same image. */
async function localRings(ports: DeliveryPorts): Promise<readonly RingsMessage[]> {
  const from = { repository: REPOSITORY, branch: BRANCH };
  return onBranch(ports, from, async ({ repository, tip }) => {
    const { policy } = await policyAt(repository.objects, tip);
    if (!policy?.publish.catalogs.some(({ rings }) => rings.length > 0)) return [];
    return ringMessages(from, await catalogsAt(repository, { name: REPOSITORY, tip, policy }, ports), ports);
  });
}

/** The commit and what its policy publishes. @throws PipelineError `usage` if that is nothing, or has no place of its own */
async function readTip({ repository: at, settings, revision }: LocalRequest) {
  return withRepository(at, settings, async (repository) => {
    const [tip = ''] = await repository.resolve([revision]);
    const policy = await readablePolicyAt(repository.objects, tip);
    if (policy.publish.catalogs.length === 0) {
      throw new PipelineError('usage', 'the policy does not publish any catalog', {
        hint: "add publish: {catalogs: {'*': {image: 'quay.io/my-org/catalog:{catalog}'}}} to the policy",
      });
    }
    refuseMergedPlaces(policy, await publishedCatalogs(repository.objects, tip, policy));
    return { tip, policy: policy.publish };
  });
}

/**
 * Refuses different images in places that differ only in their host: a layout has no hosts, so the last one would take the
 * tag. Places on one host are the policy's own mistake, which each publish reports.
 *
 * @throws PipelineError `usage`
 */
function refuseMergedPlaces(policy: Policy, catalogs: readonly string[]): void {
  const taken = new Map<string, { readonly place: string; readonly image: string }>();
  for (const catalog of catalogs) {
    const target = targetIn(policy, catalog);
    for (const location of target ? placesOf(target) : []) {
      if (location.kind !== 'registry') continue;
      const place = formatLocation(location);
      const inLayout = place.slice(location.reference.registry.length + 1);
      const image = location === target?.slim ? `${catalog} for OLM v1` : catalog;
      const other = taken.get(inLayout);
      if (other && other.image !== image && oneSpelling(other.place) !== oneSpelling(place)) {
        throw new PipelineError(
          'usage',
          `${other.place} (${other.image}) and ${place} (${image}) are both ${inLayout} in the local registry, which has no hosts`,
          { hint: 'give each a path or a tag of its own' },
        );
      }
      taken.set(inLayout, { place, image });
    }
  }
}

/** Writes the records below a prefix as files, so that people can open them. */
async function writeDocuments(
  records: ReturnType<typeof directoryRecords>,
  prefix: string,
  folder: string,
): Promise<void> {
  const files = new Map<string, string>();
  for (const key of await records.list(prefix)) {
    const record = await records.get(key);
    if (record) files.set(key.slice(prefix.length), new TextDecoder().decode(record.bytes));
  }
  writeFiles(folder, files);
}

interface Routes {
  readonly layout: Registry;
  readonly client: Registry;
  readonly policy: PublishPolicy;
  /** What was published, under an earlier policy too. */
  readonly published: readonly Current[];
}

/** Stands for `{catalog}` where a place is read. */
const ANY_CATALOG = 'any-catalog';

/** The names of repositories that a place in a policy may mean; undefined for a place that is not in a registry. */
function repositoryPattern(place: string): RegExp | undefined {
  const read = parseLocation(place.replaceAll('{catalog}', ANY_CATALOG));
  if (read.kind !== 'registry') return undefined;
  const parts = repositoryName(read.reference).split(ANY_CATALOG);
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^/]*')}$`);
}

/** A registry that is the layout for what the policy publishes, and the client for everything else, which is only read. */
function routedRegistry({ layout, client, policy, published }: Routes): Registry {
  const patterns = policy.catalogs
    .flatMap(({ image, also, slim }) => [image, ...also, ...(slim === undefined ? [] : [slim])])
    .flatMap((place) => repositoryPattern(place) ?? []);
  // `quay.io/org/catalog:v4.20` without its tag.
  const publishedNames = new Set(published.map(({ image }) => image.replace(/:[^/:]*$/, '')));
  const registryFor = ({ registry, repository }: Repository): Registry => {
    const name = `${registry}/${repository}`;
    return publishedNames.has(name) || patterns.some((pattern) => pattern.test(name)) ? layout : client;
  };
  return {
    resolve: (reference) => registryFor(reference).resolve(reference),
    getManifest: (reference) => registryFor(reference).getManifest(reference),
    getBlob: (from, blob) => registryFor(from).getBlob(from, blob),
    hasBlob: (from, digest, size) => registryFor(from).hasBlob(from, digest, size),
    listTags: (repository) => registryFor(repository).listTags(repository),
    listReferrers: (repository, digest, type) =>
      registryFor(repository).listReferrers(repository, digest, type),
    // Nothing elsewhere is a local delivery's to write or to delete.
    putBlob: (to, blob, options) => layout.putBlob(to, blob, options),
    putManifest: (to, manifest, how) => layout.putManifest(to, manifest, how),
    deleteManifest: (reference) => layout.deleteManifest(reference),
  };
}

// A queue of this process, with the ways of SQS FIFO: groups in order and in parallel, one message of
// an id, delivery again after a failure, and messages put aside when nothing helps.

interface MemoryQueue extends Queue {
  /** Handles what is queued, and what that queues, until nothing is left. */
  drain(handle: (body: string) => Promise<void>): Promise<void>;
  /** Messages that failed every time, with the last failure. */
  readonly aside: readonly { readonly message: Message; readonly error: unknown }[];
}

interface MemoryQueueOptions {
  /** Deliveries of a message before it is put aside; 5 when left out. */
  readonly attempts?: number;
  /** Groups at a time; 2 when left out. */
  readonly parallel?: number;
}

/**
 * A queue in memory. Messages of a group are handled one after the other; one that fails again and again is put aside.
 */
export function memoryQueue({ attempts = 5, parallel = 2 }: MemoryQueueOptions = {}): MemoryQueue {
  const groups = new Map<string, Message[]>();
  const queued = new Set<string>();
  const aside: { message: Message; error: unknown }[] = [];
  const busy = new Set<string>();

  /** Handles a message until that succeeds; after the last attempt it is put aside. */
  const deliver = async (message: Message, handle: (body: string) => Promise<void>): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await handle(message.body);
      } catch (error) {
        if (tries < attempts) continue;
        aside.push({ message, error });
        return;
      }
    }
  };
  /**
   * Handles one message after the other. No other worker takes the same group meanwhile, so each group stays in order.
   */
  const worker = async (handle: (body: string) => Promise<void>): Promise<void> => {
    for (;;) {
      const group = [...groups.keys()].find((name) => !busy.has(name));
      if (group === undefined) return;
      busy.add(group);
      const messages = groups.get(group) ?? [];
      const message = messages.shift();
      if (message) {
        await deliver(message, handle);
        queued.delete(message.id);
      }
      if (messages.length === 0) groups.delete(group);
      busy.delete(group);
    }
  };
  return {
    aside,
    send: async (message) => {
      if (queued.has(message.id)) return;
      queued.add(message.id);
      appendToGroup(groups, message.group, message);
    },
    drain: async (handle) => {
      // A worker ends when every group is taken; what the last messages sent is for the next round.
      while (groups.size > 0) await Promise.all(Array.from({ length: parallel }, () => worker(handle)));
    },
  };
}
