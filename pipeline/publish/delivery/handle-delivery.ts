/**
 * A message as a queue in order delivers it. What fails goes into a group of its own and is tried again there, so what
 * stands behind it in the order does not wait: the order only saves work, and the fence makes any order right.
 */

import { PipelineError } from '../../error.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import type { Message } from '../../ports.ts';
import { handleBundles } from './bundles.ts';
import { type CatalogOptions, handleCatalog } from './catalog.ts';
import { messageOf, readWork, type Work } from './message.ts';
import { noteRetry, outcomeAt, recordBehind } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';
import { handlePush } from './push.ts';
import { handleRetire } from './retire.ts';
import { handleRing } from './ring.ts';
import { handleRings } from './rings.ts';

export interface QueuedMessage extends Pick<Message, 'body' | 'group'> {
  /** The queue's own name of it. */
  readonly id: string;
  /** How often it was delivered, with this time. */
  readonly tries: number;
}

/**
 * Handles one delivery of a queued message.
 *
 * @returns why it is tried again in a group of its own; undefined when it is done
 * @throws whatever it is, from a message that is alone already: the queue delivers it again, and puts it aside when that
 *   does not help
 */
export async function handleDelivery(
  { body, group, id, tries }: QueuedMessage,
  ports: DeliveryPorts,
  options: { readonly store?: Store | undefined } = {},
): Promise<string | undefined> {
  const work = readWork(body);
  // Checks of one pull request stay in order. A message in another group than its own is alone already.
  if (work.kind === 'gate' || group !== messageOf(work).group) {
    const isRetried = tries < QUIET_TRIES;
    if (!isRetried) await recordWorkerCrash(work, ports);
    await handleMessage(body, ports, { ...options, isRetried });
    return undefined;
  }
  const retryMessage = { body, group: id, id };
  // Its first try did not end: it would have been sent on, or be done.
  if (tries > 1) {
    if (work.kind === 'catalog') await noteRetry(ports, work, WORKER_STOPPED);
    await ports.queue.send(retryMessage);
    return WORKER_STOPPED;
  }
  try {
    await handleMessage(body, ports, { ...options, isRetried: true });
    return undefined;
  } catch (error) {
    await sendOrThrow(retryMessage, ports, error);
    return error instanceof Error ? error.message : String(error);
  }
}

/** Why a message is tried again that was delivered before, and neither done nor sent on. */
const WORKER_STOPPED = 'the worker stopped before the end, out of time or memory';

/** Deliveries of a message in a group of its own before its failure is recorded: most faults last for seconds. */
const QUIET_TRIES = 3;

/**
 * Records a catalog's message as failed if an earlier try was noted for a retry and never finished: its worker crashed, and
 * could not record the failure itself.
 */
async function recordWorkerCrash(work: Work, ports: DeliveryPorts): Promise<void> {
  const outcome = work.kind === 'catalog' ? await outcomeAt(ports.records, work) : undefined;
  if (work.kind !== 'catalog' || !outcome?.retried) return;
  await recordBehind(ports, work, { state: 'failed', detail: outcome.detail });
}

/**
 * Sends a message to a group of its own.
 *
 * @throws the first error, where the queue takes nothing: then the message comes again where it is
 */
async function sendOrThrow(
  retryMessage: Message,
  { queue, log }: DeliveryPorts,
  error: unknown,
): Promise<void> {
  try {
    await queue.send(retryMessage);
  } catch (second) {
    log(`cannot queue the message again: ${second instanceof Error ? second.message : String(second)}`);
    throw error;
  }
}

// A message of the queue handled, whatever it asks for.

/**
 * Does what a message asks for.
 *
 * @throws PipelineError: the queue delivers the message again, and puts it aside when that does not help
 */
export async function handleMessage(
  body: string,
  ports: DeliveryPorts,
  options: CatalogOptions = {},
): Promise<void> {
  const work = readWork(body);
  if (work.kind === 'push') await handlePush(work, ports);
  else if (work.kind === 'bundles') await handleBundles(work, ports);
  else if (work.kind === 'catalog') await handleCatalog(work, ports, options);
  else if (work.kind === 'retire') await handleRetire(work, ports);
  else if (work.kind === 'rings') await handleRings(work, ports);
  else if (work.kind === 'ring') await handleRing(work, ports);
  else if (ports.gate) await ports.gate(work);
  else throw new PipelineError('usage', 'pull requests are not checked here: no GitHub App is configured');
}
