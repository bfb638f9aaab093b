/** One catalog is to be published: the message's commit, or the newest one that the branch has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PipelineError } from '../error.ts';
import type { Store } from '../image/memory.ts';
import { type Published, publish } from '../stages/publish.ts';
import type { CatalogMessage } from './message.ts';
import { isDone, noteOutcome, outcomeAt, tellOutcome } from './outcome.ts';
import type { DeliveryPorts, OpenBranch } from './ports.ts';
import { documentsOf, tellPublished } from './published.ts';
import { isOn } from './push.ts';

export interface CatalogOptions {
  /** What builds remember of each other. */
  readonly store?: Store | undefined;
}

/**
 * Publishes, and tells what became of it; a message that was done before does nothing. Whatever it throws may be tried again: all that it does is
 * done over, to the same end.
 *
 * @throws PipelineError as the stage
 */
export async function handleCatalog(
  message: CatalogMessage,
  ports: DeliveryPorts,
  options: CatalogOptions = {},
): Promise<Published | undefined> {
  const before = await outcomeAt(ports.records, message);
  // Told last of all, so there is nothing left to do; the reconciler looks after what happens later.
  if (before && isDone(before) && !message.again) return undefined;
  const branch = await ports.open(message);
  try {
    if (!(await isOn(branch.repository, message.commit, branch.tip))) {
      const detail = `it is not on ${message.branch}`;
      ports.log(`${message.commit} of ${message.repository}: ${detail}: nothing to do`);
      // No word of it on GitHub: whose commit it is, nobody knows.
      const { repository, catalog, commit } = message;
      await noteOutcome(ports.records, { repository, catalog, commit, state: 'refused', detail });
      return undefined;
    }
    const published = await newestOf(message, branch, { ports, options });
    if (published.kind === 'published') await tellPublished(ports, message.repository, published.receipt);
    await tellOutcome(ports, message, outcomeOf(published, message));
    return published;
  } catch (error) {
    if (error instanceof PipelineError) await tellFailure(ports, message, error);
    throw error;
  } finally {
    await branch.close();
  }
}

/** The message comes again; meanwhile people can see why they wait. */
async function tellFailure(
  ports: DeliveryPorts,
  message: CatalogMessage,
  error: PipelineError,
): Promise<void> {
  try {
    await tellOutcome(ports, message, { state: 'failed', detail: error.message });
  } catch (second) {
    ports.log(`what failed could not be told: ${second instanceof Error ? second.message : String(second)}`);
  }
}

interface Publishing {
  readonly ports: DeliveryPorts;
  readonly options: CatalogOptions;
}

/** A newer commit that cannot be published does not keep back the one that was asked for. */
async function newestOf(
  message: CatalogMessage,
  branch: OpenBranch,
  publishing: Publishing,
): Promise<Published> {
  const newest = await publishCommit(message, { ...branch, commit: branch.tip }, publishing);
  if (newest.kind !== 'refused' || branch.tip === message.commit) return newest;
  return publishCommit(message, { ...branch, commit: message.commit }, publishing);
}

async function publishCommit(
  { catalog, epoch }: CatalogMessage,
  { repository, commit }: Pick<OpenBranch, 'repository'> & { readonly commit: string },
  { ports, options }: Publishing,
): Promise<Published> {
  const { registry, fence, records, log, now } = ports;
  const out = mkdtempSync(join(tmpdir(), 'portolan-publish-'));
  try {
    const request = {
      commit,
      catalog,
      epoch,
      out,
      today: now().toISOString().slice(0, 10),
      ...options,
      page: true,
    };
    return await publish({ repository, registry, fence, records, progress: log }, request);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function outcomeOf(published: Published, { commit }: CatalogMessage) {
  if (published.kind === 'superseded') return { state: 'superseded', detail: published.by.commit } as const;
  if (published.kind === 'refused') {
    const first = published.findings.find(({ severity }) => severity === 'error');
    return { state: 'refused', detail: first ? `${first.rule}: ${first.message}` : 'it has errors' } as const;
  }
  const { receipt } = published;
  const documents = documentsOf(receipt);
  if (receipt.commit !== commit) return { state: 'superseded', detail: receipt.commit, documents } as const;
  return { state: 'published', detail: receipt.digest, documents } as const;
}
