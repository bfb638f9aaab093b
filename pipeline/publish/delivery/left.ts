/**
 * Merges that a newer one has overtaken before they were published: what became of them is reported once, when all their
 * catalogs have ended.
 */
import { parsedJson } from '../../../catalog/json.ts';
import type { RecordStore, StoredRecord } from '../../ports.ts';
import type { CatalogMessage } from './message.ts';
import { isDone, type Outcome, outcomeAt, reportCommit } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';

type Left = Pick<Outcome, 'repository' | 'commit'>;

/** The catalogs of such a merge, which each have a message of their own. */
function keyOf({ repository, commit }: Left): string {
  return `left/${repository}/${commit}`;
}

/**
 * Notes which catalogs report what became of a merge, before their messages are sent. A push that comes again may find
 * fewer of them: those of the first time still stand.
 *
 * @returns all of them
 */
export async function noteLeft(
  records: RecordStore,
  left: Left,
  catalogs: readonly string[],
): Promise<readonly string[]> {
  for (;;) {
    const stored = await records.get(keyOf(left));
    const known = catalogsIn(stored);
    const all = [...new Set([...known, ...catalogs])];
    if (stored && all.length === known.length) return all;
    const bytes = new TextEncoder().encode(`${JSON.stringify({ catalogs: all })}\n`);
    if (await records.replace(keyOf(left), bytes, stored?.version)) return all;
  }
}

function catalogsIn(stored: StoredRecord | undefined): readonly string[] {
  const value = Object(stored && parsedJson(stored.bytes));
  const { catalogs } = value as { readonly catalogs?: unknown };
  return Array.isArray(catalogs) ? catalogs.filter((one) => typeof one === 'string') : [];
}

/** Tells what became of a merge that has no catalog to wait for: all that it has is in what is published. */
export async function tellOvertaken(
  ports: Pick<DeliveryPorts, 'reports'>,
  left: Left,
  newer: string,
): Promise<void> {
  await reportCommit(ports, left, { state: 'superseded', detail: newer });
}

/**
 * Reports how the publish of an older commit ended, once it has ended for all of its catalogs. Only for messages that
 * know a newer commit.
 */
export async function tellLeft(
  ports: Pick<DeliveryPorts, 'records' | 'reports'>,
  { repository, commit, behind }: CatalogMessage,
): Promise<void> {
  if (behind === undefined) return;
  const { records } = ports;
  const ends: Outcome[] = [];
  for (const catalog of catalogsIn(await records.get(keyOf({ repository, commit })))) {
    const outcome = await outcomeAt(records, { repository, catalog, commit });
    if (!outcome || !hasEnded(outcome)) return;
    ends.push(outcome);
  }
  const end = worstOf(ends);
  if (end) await reportCommit(ports, { repository, commit }, end);
}

function hasEnded(outcome: Outcome): boolean {
  const { state, retried } = outcome;
  return isDone(outcome) || state === 'refused' || (state === 'failed' && !retried);
}

/** What people have to know first. */
const ORDER: readonly Outcome['state'][] = ['refused', 'failed', 'superseded', 'published', 'retired'];

function worstOf(ends: readonly Outcome[]): Pick<Outcome, 'state' | 'detail'> | undefined {
  const state = ORDER.find((one) => ends.some((end) => end.state === one));
  const first = ends.find((end) => end.state === state);
  if (!first) return undefined;
  const { catalog, detail } = first;
  // A newer commit, and the note of a retirement, say it for the whole merge.
  const isOfCatalog = first.state !== 'superseded' && first.state !== 'retired';
  return { state: first.state, detail: isOfCatalog ? `${catalog}: ${detail}` : detail };
}
