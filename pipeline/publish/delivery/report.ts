/**
 * What became of a merge is reported: to GitHub, and on the bus. It was recorded before, so nothing is lost while nobody
 * listens, and nothing else waits for it.
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import type { CommitStatus, Forge, RecordStore } from '../../ports.ts';
import type { PublishReceipt } from '../receipt.ts';
import { type CatalogReport, type PublishReport, type ReportMessage, readReport } from './message.ts';
import { BUNDLES_CONTEXT, CONTEXT, outcomeAt, statusFor } from './outcome.ts';
import type { ReportPorts } from './ports.ts';

/** Where the last status of each context stands that GitHub took. */
const REPORTED = 'reported/';

/**
 * Reports once, however often the message comes.
 *
 * @throws PipelineError, retryable, where the same report may be taken later
 */
export async function handleReport(body: string, ports: ReportPorts): Promise<void> {
  const message = readReport(body);
  try {
    await report(message, ports);
  } catch (error) {
    // The App may lack the right to: what was published stands all the same.
    if (!(error instanceof PipelineError) || error.retryable) throw error;
    ports.log(`cannot report the ${NAMES[message.what]} of ${message.commit}: ${error.message}`);
  }
}

/** What is reported, for the log. */
const NAMES: Readonly<Record<ReportMessage['what'], string>> = {
  commit: 'status',
  bundles: 'status',
  catalog: 'status',
  deployment: 'deployment',
  event: 'event',
  retirement: 'event',
};

/** Reports what a message is about on the forge. */
async function report(message: ReportMessage, ports: ReportPorts): Promise<void> {
  switch (message.what) {
    case 'commit':
    case 'bundles': {
      const { repository, commit, state, description } = message;
      const context = message.what === 'commit' ? CONTEXT : BUNDLES_CONTEXT;
      return reportStatus({ repository, commit, context, state, description }, ports);
    }
    case 'catalog': {
      const status = await statusOf(message, ports);
      return status && reportStatus(status, ports);
    }
    case 'retirement': {
      const { v: _, kind: __, what: ___, ...retirement } = message;
      return ports.announceRetired?.(retirement);
    }
    default:
      return reportPublish(message, ports);
  }
}

/** The status as it is now: of several that waited, the last one alone is reported. */
async function statusOf(
  message: CatalogReport,
  { records, linkTo }: ReportPorts,
): Promise<CommitStatus | undefined> {
  const outcome = await outcomeAt(records, message);
  return outcome && !outcome.untold ? statusFor(outcome, linkTo) : undefined;
}

/** Sets a commit's status once, even if an earlier try was cut off. */
async function reportStatus(status: CommitStatus, { records, forge }: ReportPorts): Promise<void> {
  const { repository, commit, context } = status;
  const key = `${REPORTED}${repository}/${commit}/${encodeURIComponent(context)}`;
  const put = (text: string): Promise<void> => records.put(key, new TextEncoder().encode(text));
  const [text, begun] = [`${JSON.stringify(status)}\n`, `${JSON.stringify({ ...status, begun: true })}\n`];
  const stored = await records.get(key);
  const before = stored && new TextDecoder().decode(stored.bytes);
  if (before === text) return;
  // An earlier try may have ended when the forge had taken the status, and before that was recorded.
  if (before !== begun || !(await isShown(status, forge))) {
    if (before !== begun) await put(begun);
    await forge.report(status);
  }
  await put(text);
}

/** Whether the forge shows a status already; one that does not let it be read gets it again. */
async function isShown(status: CommitStatus, forge: Forge): Promise<boolean> {
  try {
    return (await forge.shows?.(status)) ?? false;
  } catch (error) {
    if (error instanceof PipelineError && !error.retryable) return false;
    throw error;
  }
}

/**
 * Reports one publish with what its receipt says: as an event to those who subscribed, or as a deployment.
 */
async function reportPublish(
  { what, repository, documents }: PublishReport,
  { records, announce, deployed, linkTo }: ReportPorts,
): Promise<void> {
  const receipt = await receiptAt(records, documents);
  const { catalog, commit, image, digest } = receipt;
  if (what === 'event') await announce?.({ repository, catalog, commit, image, digest, documents });
  else await deployed?.({ repository, receipt, link: linkTo?.(documents) });
}

/** The receipt of a publish, from its documents. @throws PipelineError `not-found` for documents that were removed */
async function receiptAt(records: RecordStore, documents: string): Promise<PublishReceipt> {
  const record = await records.get(`${documents}receipt.json`);
  const receipt = record && parsedJson(record.bytes);
  if (isObject(receipt) && receipt['kind'] === 'PublishReceipt') return receipt as unknown as PublishReceipt;
  throw new PipelineError('not-found', `${documents} has no receipt`);
}
