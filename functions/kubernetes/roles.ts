/** What a process of the Kubernetes host does, by the role that it is started with. */
import { text } from 'node:stream/consumers';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { systemClock } from '../../pipeline/oci/registry/http/retry.ts';
import { handleDelivery, type QueuedMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf, readRing, readWork } from '../../pipeline/publish/delivery/message.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { handleRing } from '../../pipeline/publish/delivery/ring.ts';
import { isSettled, statusBeside, statusText } from '../../pipeline/publish/delivery/status.ts';
import { ringsListText } from '../../pipeline/publish/rings/look.ts';
import { ringsIn } from '../../pipeline/publish/rings/store.ts';
import { amountText, linesText } from '../../pipeline/text.ts';
import { driftAll } from '../drift.ts';
import { webhooksOf } from '../forges/forges.ts';
import { newEpochs } from '../new-epoch.ts';
import { type AnswerRoom, answerJob, tokenReader } from '../publish-request.ts';
import { receiveDelivery } from '../receive.ts';
import { reconcileAll } from '../reconcile.ts';
import { runSmokeTest } from '../smoke.ts';
import type { Host } from './host.ts';
import { removeOldRecords, resetFence, resetStore } from './records.ts';
import { fileSecret } from './secret.ts';
import { type RouteReply, type Routes, serveRoutes } from './server.ts';
import { handleTraced } from './telemetry.ts';

/** Work that goes on until the process is told to stop. */
export interface Service {
  /** Takes no more work, and waits for what is under way. */
  stop(): Promise<void>;
}

/** @returns what stops it */
export const SERVICES: Readonly<Record<string, (host: Host) => Promise<Service>>> = {
  receive: receiveRequests,
  work: handleQueues,
};

/**
 * @param words what follows the role
 * @returns the exit code
 */
type Task = (host: Host, print: (line: string) => void, words: readonly string[]) => Promise<number>;

export const TASKS: Readonly<Record<string, Task>> = {
  reconcile,
  drift: async ({ settings: { sources }, app, telemetry }) => {
    await driftAll(sources, app, telemetry);
    return 0;
  },
  smoke: async ({ settings: { sources }, ports }, print) => {
    const { ok, checks } = await runSmokeTest(sources, ports);
    for (const check of checks)
      print(`${check.ok ? 'ok  ' : 'FAIL'}  ${check.what}${check.ok ? '' : `: ${check.why}`}`);
    return ok ? 0 : 1;
  },
  status: async ({ settings: { sources }, ports, queues }, print, words) => {
    const status = await statusBeside(sources, ports);
    const depths = await queues.depths();
    const [work, reports, aside] = [depths.work, depths.reports, depths.aside].map((one) => one.messages);
    const isJson = words.includes('--json');
    if (isJson) print(JSON.stringify({ ...status, queued: { work, reports, aside } }));
    else print(`${statusText(status)}queued: ${work}, reports: ${reports}, put aside: ${aside}`);
    return isSettled(status) && aside === 0 ? 0 : 1;
  },
  rings: async ({ records }, print) => {
    const { rings, errors } = await ringsIn(records);
    print(`${ringsListText(rings)}${linesText(errors.map(({ message }) => message))}`.trimEnd());
    return errors.length > 0 ? 1 : 0;
  },
  ring: async ({ ports }, print) => {
    const { state, missing } = await handleRing(readRing(await text(process.stdin)), ports);
    print(ringsListText([state]).trimEnd());
    if (missing > 0) print(`approved: the ring opens after ${amountText(missing, 'more approval')}`);
    return missing > 0 ? 1 : 0;
  },
  send: async ({ queues }, print) => {
    const work = readWork(await text(process.stdin));
    const isQueued = await queues.sendAgain('work', messageOf(work));
    print(isQueued ? 'queued' : 'the same message is in the queue already');
    return 0;
  },
  'new-epoch': async ({ settings: { sources }, ports, queues }, print, [repository = '']) => {
    for (const message of await newEpochs(sources, repository, ports)) {
      await queues.sendAgain('work', messageOf(message));
      print(`${message.catalog} of ${repository} is queued in epoch ${message.epoch}`);
    }
    return 0;
  },
  'reset-fence': async ({ settings: { sources }, ports, queues, database }, print, words) => {
    const [repository = '', catalog = ''] = words;
    const { message, lines } = await resetFence(
      sources,
      { repository, catalog },
      ports,
      resetStore(database),
    );
    for (const line of lines) print(line);
    await queues.sendAgain('work', messageOf(message));
    print(`${catalog} of ${repository} is queued`);
    return 0;
  },
  redrive: async ({ queues }, print) => {
    print(`${await queues.redrive()} messages are back in their queues`);
    return 0;
  },
};

/** How long a job's end is waited for, in ms: less than routers let an answer take (docs/kubernetes.md). */
const PATIENCE = 270_000;

/** All documents of a publish fit: the Action reads no more. */
const ROOM: AnswerRoom = { bytes: 32_000_000, sent: (text) => Buffer.byteLength(JSON.stringify(text)) };

/** Runs the role that answers webhooks and jobs of the Action. It has no rights but to queue messages. */
async function receiveRequests({ settings, telemetry, queues, records }: Host): Promise<Service> {
  const { sources, secrets, issuer, audience, ports, stopping } = settings;
  const shared = { sources, queue: queues.queue('work'), records, log: telemetry.log };
  const receivePorts = {
    ...shared,
    webhooks: webhooksOf(settings.forge),
    secret: fileSecret(secrets.webhook),
    checksPulls: secrets.app !== undefined,
    now: () => new Date(),
  };
  const askPorts = {
    ...shared,
    issuer,
    readToken: tokenReader(issuer),
    clock: systemClock,
    patience: PATIENCE,
    room: ROOM,
  };
  const routes: Routes = {
    'POST /webhook': async (asked) => {
      const { status, text } = await receiveDelivery(asked, receivePorts);
      telemetry.count(status === 202 ? 'DeliveryTaken' : 'DeliveryRefused');
      return { status, body: `${text}\n` };
    },
    // Without a name for tokens nobody can say that one is for this address: what a request names, its sender wrote.
    ...(audience === undefined
      ? {}
      : {
          'POST /publish': async (asked): Promise<RouteReply> => {
            const { status, body } = await answerJob({ ...asked, audience }, askPorts);
            telemetry.count(status === 200 ? 'JobAnswered' : 'JobRefused');
            return { status, body: JSON.stringify(body), type: 'application/json' };
          },
        }),
  };
  const server = await serveRoutes(ports.public, routes, telemetry.log);
  return {
    stop: async () => {
      // Routers send requests here until they have heard that it stops.
      await systemClock.sleep(stopping.refuse);
      await server.stop(stopping.leave);
    },
  };
}

/** Runs the role that handles queued messages, several at a time. */
async function handleQueues({ settings, telemetry, queues, ports, reports, store }: Host): Promise<Service> {
  /**
   * Counts and times a message. A failure that `work` returns is queued again already; what it throws, the queue delivers
   * again.
   */
  const attempt = async (
    event: string,
    body: string,
    work: () => Promise<string | undefined>,
  ): Promise<void> => {
    const began = performance.now();
    const repository = repositoryIn(body);
    try {
      const failure = await handleTraced(body, work);
      if (failure === undefined) return;
      telemetry.log(`failed, is tried again: ${failure}`);
      telemetry.count(`${event}Failed`, repository);
    } catch (error) {
      telemetry.log(`failed: ${error instanceof Error ? error.message : String(error)}`);
      telemetry.count(`${event}Failed`, repository);
      throw error;
    } finally {
      telemetry.time(`${event}Duration`, performance.now() - began, repository);
    }
  };
  const handle = (message: QueuedMessage) =>
    attempt('Work', message.body, () => handleDelivery(message, ports, { store }));
  const report = ({ body }: QueuedMessage) =>
    attempt('Report', body, async () => void (await handleReport(body, reports)));
  await queues.consume('work', { parallel: settings.parallel, handle });
  await queues.consume('reports', { parallel: settings.parallel, handle: report });
  return { stop: () => queues.stop(settings.stopping.leave) };
}

/** The repository that a message names, for metrics; cut, because its sender may have written anything. */
function repositoryIn(body: string): string {
  const value: unknown = parsedJson(body);
  return isObject(value) && typeof value['repository'] === 'string' ? value['repository'].slice(0, 200) : '';
}

/**
 * Queues the catalogs whose branch differs from the published image, and removes old records.
 *
 * @returns the exit code: 1 if a repository could not be compared
 */
async function reconcile({ settings, telemetry, database, queues, ports }: Host): Promise<number> {
  const { failed, messages } = await reconcileAll(settings.sources, ports, telemetry);
  let queued = 0;
  for (const message of messages) if (await queues.sendAgain('work', messageOf(message))) queued++;
  const removed = await removeOldRecords(database, settings.keep);
  const waiting = messages.length - queued;
  const others = waiting === 0 ? '' : `, ${waiting} in the queue already`;
  telemetry.log(
    `${amountText(queued, 'message')} queued${others}, ${amountText(removed, 'old record')} removed`,
  );
  return failed.length > 0 ? 1 : 0;
}
