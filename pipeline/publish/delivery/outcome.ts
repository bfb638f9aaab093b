/** What became of a commit's catalog: a record for `portolan status`, and a status on the commit. */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import type { CommitStatus, RecordStore, StoredRecord } from '../../ports.ts';
import { type CatalogMessage, messageOf } from './message.ts';
import type { DeliveryPorts, ReportPorts } from './ports.ts';

export type OutcomeState = 'pending' | 'published' | 'superseded' | 'refused' | 'failed' | 'retired';

export interface Outcome {
  readonly repository: string;
  readonly catalog: string;
  readonly commit: string;
  readonly state: OutcomeState;
  /** One line for people: a digest, a newer commit, the first error. */
  readonly detail: string;
  /** Prefix of the keys of the documents, where they are known. */
  readonly documents?: string | undefined;
  /** Set where nobody was told of it. */
  readonly untold?: true;
  /** Set on a failure that is tried again at once: people are told that it waits. */
  readonly retried?: true;
  /** When that was known, in ISO 8601; older records do not say it. */
  readonly at?: string;
}

/** Where records of outcomes begin. */
const OUTCOMES = 'outcomes/';
/** Where the last one of each catalog stands. */
const LAST = 'last/';

/** The state of a commit's status for each outcome. */
const STATES: Readonly<Record<OutcomeState, CommitStatus['state']>> = {
  pending: 'pending',
  published: 'success',
  superseded: 'success',
  refused: 'failure',
  failed: 'error',
  retired: 'success',
};

/** How its description begins. */
const WORDS: Readonly<Record<OutcomeState, string>> = {
  pending: 'waiting to be published',
  published: 'published',
  superseded: 'published as part of a newer commit',
  refused: 'merged, not published',
  failed: 'not published yet',
  retired: 'no longer published',
};

/** How it ended, as far as it did. */
export interface End extends Pick<Outcome, 'detail' | 'documents'> {
  readonly state: Exclude<OutcomeState, 'pending'>;
}

type OutcomePorts = Pick<DeliveryPorts, 'records' | 'reports'> & Partial<Pick<DeliveryPorts, 'now'>>;

/** Where the last failure of each catalog stands; a publish that succeeds leaves it. */
const FAILURES = 'failures/';

/**
 * An outcome, with its time where it is a failure. A failure is also recorded as the last one of its catalog,
 * which `portolan status` shows whatever comes after it.
 */
async function timedFailure(
  { records, now }: Pick<OutcomePorts, 'records' | 'now'>,
  outcome: Outcome,
): Promise<Outcome> {
  const { state } = outcome;
  // Ports without a clock record no times.
  if (!now || (state !== 'failed' && state !== 'refused')) return outcome;
  const whole: Outcome = { ...outcome, at: now().toISOString() };
  await records.put(`${FAILURES}${nameOf(outcome)}`, new TextEncoder().encode(`${JSON.stringify(whole)}\n`));
  return whole;
}

/** The last failure of every catalog, also of those that were published since. @param onUnreadable as in {@link outcomesIn} */
export function lastFailures(records: RecordStore, onUnreadable: (key: string) => void): Promise<Outcome[]> {
  return outcomesIn(records, FAILURES, onUnreadable);
}

/** Of a commit's status; that of a catalog has its name behind. */
export const CONTEXT = 'portolan/publish';
/** Of the status that says what became of a commit's bundles. */
export const BUNDLES_CONTEXT = 'portolan/release';

/** Characters of a commit status's description at most: GitHub refuses longer ones. */
const DESCRIPTION = 140;

/** A text for a commit's status. Half a character, of those that have two in JavaScript, would be refused as well. */
function cut(text: string): string {
  return [...text].slice(0, DESCRIPTION).join('');
}

/**
 * Writes the records of a commit that waits. One of which more is known does not wait again, though its message
 * came twice.
 *
 * @returns what is known of it now
 */
export async function noteWaiting(records: RecordStore, message: CatalogMessage): Promise<Outcome> {
  const known = await outcomeAt(records, message);
  if (known) return known;
  const { repository, catalog, commit } = message;
  const outcome: Outcome = { repository, catalog, commit, state: 'pending', detail: commit };
  await recordLast(records, outcome);
  await noteOutcome(records, outcome);
  return outcome;
}

/** Reports that a commit waits, unless more is known of it. */
export async function recordWaiting(ports: OutcomePorts, message: CatalogMessage): Promise<void> {
  const outcome = await noteWaiting(ports.records, message);
  if (outcome.state === 'pending') await askReport(ports, outcome);
}

/**
 * Writes the records, then asks for the report. A commit that was overtaken is reported only if people were told before
 * that it waits: GitHub takes some hundred statuses an hour, and a burst of merges has more.
 */
export async function recordOutcome(
  ports: OutcomePorts,
  message: Pick<Outcome, 'repository' | 'catalog' | 'commit'>,
  end: End,
): Promise<void> {
  const { records } = ports;
  const { repository, catalog, commit } = message;
  const outcome = await timedFailure(ports, { repository, catalog, commit, ...end });
  // Of a superseded commit, nobody has heard yet if it has no record or an untold one: then nobody does.
  const earlier = outcome.state === 'superseded' ? await outcomeAt(records, outcome) : outcome;
  if (!earlier || earlier.untold) return noteOutcome(records, { ...outcome, untold: true });
  await recordLast(records, outcome);
  await noteOutcome(records, outcome);
  await askReport(ports, outcome);
}

/** Reports what became of a commit, whatever its catalogs are. */
export async function reportCommit(
  { reports }: Pick<DeliveryPorts, 'reports'>,
  { repository, commit }: Pick<Outcome, 'repository' | 'commit'>,
  { state, detail }: Pick<Outcome, 'state' | 'detail'>,
): Promise<void> {
  const message = { v: 1, kind: 'report', what: 'commit', repository, commit } as const;
  await reports.send(messageOf({ ...message, ...wordsOf(state, detail) }));
}

/** Reports what became of the bundles that had arrived at a commit. */
export async function reportBundles(
  { reports }: Pick<DeliveryPorts, 'reports'>,
  subject: Pick<Outcome, 'repository' | 'commit'>,
  { state, text }: { readonly state: CommitStatus['state']; readonly text: string },
): Promise<void> {
  const message = { v: 1, kind: 'report', what: 'bundles', ...subject, state } as const;
  await reports.send(messageOf({ ...message, description: cut(text) }));
}

/** Records the end of a message of an old commit. What a newer commit has recorded stays the catalog's last outcome. */
export async function recordBehind(
  ports: OutcomePorts,
  { repository, catalog, commit }: CatalogMessage,
  end: End,
): Promise<void> {
  const { records } = ports;
  const outcome = await timedFailure(ports, { repository, catalog, commit, ...end });
  if (!(await isBehindLast(records, outcome))) await recordLast(records, outcome);
  await noteOutcome(records, outcome);
  await askReport(ports, outcome);
}

/**
 * Writes down a failure that is tried again at once. Nobody is told: most end well a moment later, and a commit has one
 * status for each publish.
 */
export async function noteRetry(
  ports: Pick<OutcomePorts, 'records' | 'now'>,
  { repository, catalog, commit }: CatalogMessage,
  detail: string,
): Promise<void> {
  const { records } = ports;
  const known = await outcomeAt(records, { repository, catalog, commit });
  if (known && isDone(known)) return;
  const untold = !known || known.untold ? ({ untold: true } as const) : {};
  const failure: Outcome = { repository, catalog, commit, state: 'failed', detail, retried: true, ...untold };
  const outcome = await timedFailure(ports, failure);
  if (!(await isBehindLast(records, outcome))) await recordLast(records, outcome);
  await noteOutcome(records, outcome);
}

/** Writes the record alone, which whoever asked for the publish looks at. */
export async function noteOutcome(records: RecordStore, outcome: Outcome): Promise<void> {
  await records.put(keyOf(outcome), new TextEncoder().encode(`${JSON.stringify(outcome)}\n`));
}

/** Whether nothing more will happen to a commit's catalog, unless it is asked for again. */
export function isDone({ state }: Pick<Outcome, 'state'>): boolean {
  return state === 'published' || state === 'superseded' || state === 'retired';
}

/**
 * Asks that a record is reported to people. Each request is another message, as a record may come back to what it was. A
 * status that stands already is not reported again.
 */
export async function askReport(
  { reports }: Pick<DeliveryPorts, 'reports'>,
  outcome: Outcome,
): Promise<void> {
  if (outcome.untold) return;
  const { repository, commit, catalog } = outcome;
  const version = randomUUID();
  const message = { v: 1, kind: 'report', repository, commit, catalog } as const;
  await reports.send(messageOf({ ...message, what: 'catalog', version }));
}

/** The status that says a record. */
export function statusFor(
  { repository, commit, catalog, state, detail, documents, retried }: Outcome,
  linkTo: ReportPorts['linkTo'],
): CommitStatus {
  const url = documents === undefined ? undefined : linkTo?.(documents);
  // As while it waited for the first time.
  const words = retried ? wordsOf('pending', commit) : wordsOf(state, detail);
  const status = { repository, commit, context: `${CONTEXT} ${catalog}`, ...words };
  return url === undefined ? status : { ...status, url };
}

/** The state and text of a commit's status. */
function wordsOf(state: OutcomeState, detail: string): Pick<CommitStatus, 'state' | 'description'> {
  return { state: STATES[state], description: cut(`${WORDS[state]}: ${detail}`) };
}

/**
 * Records the latest outcome of a catalog. That a commit is superseded takes the place of its own record only: the newer
 * commit has one of its own. A published commit is not recorded while a newer one waits: the catalog is not up to date yet.
 */
async function recordLast(records: RecordStore, outcome: Outcome): Promise<void> {
  const { state, commit, detail } = outcome;
  const key = `${LAST}${nameOf(outcome)}`;
  // The detail of a superseded commit is the newer one.
  const news = state === 'superseded' ? { ...outcome, state: 'published', commit: detail } : outcome;
  const bytes = new TextEncoder().encode(`${JSON.stringify(news)}\n`);
  if (state !== 'superseded' && state !== 'published') return records.put(key, bytes);
  let isWritten = false;
  while (!isWritten) {
    const stored = await records.get(key);
    const last = outcomeIn(stored);
    const isOther = last?.commit !== commit;
    if (isOther && (state === 'superseded' || last?.state === 'pending')) return;
    isWritten = await records.replace(key, bytes, stored?.version);
  }
}

/** The outcome in a record. An unreadable record counts as absent: the next publish writes it again. */
function outcomeIn(record: StoredRecord | undefined): Outcome | undefined {
  const value = record && parsedJson(record.bytes);
  if (!isObject(value) || !isState(value['state'])) return undefined;
  const { repository, catalog, commit, detail } = value;
  const isWhole = [repository, catalog, commit, detail].every((text) => typeof text === 'string');
  return isWhole ? (value as unknown as Outcome) : undefined;
}

/** Whether a value from a record is a state. */
function isState(state: unknown): state is OutcomeState {
  return typeof state === 'string' && Object.hasOwn(STATES, state);
}

/** What became of a commit's catalog so far; undefined when nothing is known of it. */
export async function outcomeAt(
  records: RecordStore,
  subject: Pick<Outcome, 'repository' | 'catalog' | 'commit'>,
): Promise<Outcome | undefined> {
  return outcomeIn(await records.get(keyOf(subject)));
}

/** The newest outcome of a catalog, of whatever commit; `unreadable` for a record that cannot be read. */
export async function lastWord(
  records: RecordStore,
  subject: Pick<Outcome, 'repository' | 'catalog'>,
): Promise<Outcome | 'unreadable' | undefined> {
  const stored = await records.get(`${LAST}${nameOf(subject)}`);
  return stored && (outcomeIn(stored) ?? 'unreadable');
}

/** Whether something newer than a commit was heard of its catalog. */
async function isBehindLast(records: RecordStore, outcome: Outcome): Promise<boolean> {
  const last = await lastWord(records, outcome);
  return last !== undefined && last !== 'unreadable' && last.commit !== outcome.commit;
}

/** The key of a commit's record. */
function keyOf({ repository, catalog, commit }: Pick<Outcome, 'repository' | 'catalog' | 'commit'>): string {
  return `${OUTCOMES}${nameOf({ repository, catalog })}/${commit}`;
}

/** A catalog in keys of records; its name may have a slash, which would begin another level. */
function nameOf({ repository, catalog }: Pick<Outcome, 'repository' | 'catalog'>): string {
  return `${repository}/${encodeURIComponent(catalog)}`;
}

/** The last word on every catalog. @param onUnreadable called with the keys of records that cannot be read */
export function lastOutcomes(
  records: RecordStore,
  onUnreadable: (key: string) => void = () => undefined,
): Promise<Outcome[]> {
  return outcomesIn(records, LAST, onUnreadable);
}

/** The outcomes recorded below a prefix. @param onUnreadable called with the key of each record that cannot be read */
async function outcomesIn(
  records: RecordStore,
  prefix: string,
  onUnreadable: (key: string) => void,
): Promise<Outcome[]> {
  const found: Outcome[] = [];
  for (const key of await records.list(prefix)) {
    const stored = await records.get(key);
    const outcome = outcomeIn(stored);
    if (outcome) found.push(outcome);
    else if (stored) onUnreadable(key);
  }
  return found;
}
