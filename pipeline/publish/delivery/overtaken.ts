/**
 * Merges that a newer one has overtaken before they were published: what became of them is reported once, when all their
 * catalogs have ended.
 */
import { parsedJson } from '../../../catalog/json.ts';
import type { RecordStore, StoredRecord } from '../../ports.ts';
import type { CatalogMessage } from './message.ts';
import { isDone, type Outcome, outcomeAt, reportCommit } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';

type Merge = Pick<Outcome, 'repository' | 'commit'>;

/** The catalogs of such a merge, which each have a message of their own. */
function keyOf({ repository, commit }: Merge): string {
  return `left/${repository}/${commit}`;
}

/**
 * Notes the catalogs of an overtaken merge before their messages are sent: its end is reported when each of
 * them has ended. A push that comes again may find fewer catalogs; those of the first time still count.
 */
export async function noteOvertaken(
  records: RecordStore,
  merge: Merge,
  catalogs: readonly string[],
): Promise<readonly string[]> {
  for (;;) {
    const stored = await records.get(keyOf(merge));
    const before = catalogsIn(stored);
    const all = [...new Set([...before, ...catalogs])];
    if (stored && all.length === before.length) return all;
    const bytes = new TextEncoder().encode(`${JSON.stringify({ catalogs: all })}\n`);
    if (await records.replace(keyOf(merge), bytes, stored?.version)) return all;
  }
}

/** The catalogs in a record. One that cannot be read counts as empty: it decides only what is reported, and when. */
function catalogsIn(stored: StoredRecord | undefined): readonly string[] {
  const value = Object(stored && parsedJson(stored.bytes));
  const { catalogs } = value as { readonly catalogs?: unknown };
  return Array.isArray(catalogs) ? catalogs.filter((one) => typeof one === 'string') : [];
}

/** Tells what became of a merge that has no catalog to wait for: all that it has is in what is published. */
export async function tellOvertaken(
  ports: Pick<DeliveryPorts, 'reports'>,
  merge: Merge,
  newer: string,
): Promise<void> {
  await reportCommit(ports, merge, { state: 'superseded', detail: newer });
}

/**
 * Reports how the publish of an older commit ended, once it has ended for all of its catalogs. Only for messages that
 * know a newer commit.
 */
export async function tellWhenEnded(
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

/** Whether nothing more happens to a catalog of a merge by itself. */
function hasEnded(outcome: Outcome): boolean {
  const { state, retried } = outcome;
  return isDone(outcome) || state === 'refused' || (state === 'failed' && !retried);
}

/** What people have to know first. */
const ORDER: readonly Outcome['state'][] = ['refused', 'failed', 'superseded', 'published', 'retired'];

/** The end of a merge with several catalogs: the one that people must know first. */
function worstOf(ends: readonly Outcome[]): Pick<Outcome, 'state' | 'detail'> | undefined {
  const state = ORDER.find((one) => ends.some((end) => end.state === one));
  const first = ends.find((end) => end.state === state);
  if (!first) return undefined;
  const { catalog, detail } = first;
  // A newer commit, and the note of a retirement, say it for the whole merge.
  const isOfCatalog = first.state !== 'superseded' && first.state !== 'retired';
  return { state: first.state, detail: isOfCatalog ? `${catalog}: ${detail}` : detail };
}
