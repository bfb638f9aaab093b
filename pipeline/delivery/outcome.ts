/** What became of a commit's catalog: a record for `portolan status`, and a status on the commit. */
import { isObject } from '../../catalog/shape.ts';
import type { CommitStatus, Forge, RecordStore } from '../ports.ts';
import type { CatalogMessage } from './message.ts';

export type OutcomeState = 'pending' | 'published' | 'superseded' | 'refused' | 'failed';

export interface Outcome {
  readonly repository: string;
  readonly catalog: string;
  readonly commit: string;
  readonly state: OutcomeState;
  /** One line for people: a digest, a newer commit, the first error. */
  readonly detail: string;
}

/** Where records of outcomes begin. */
const OUTCOMES = 'outcomes/';

const STATES: Readonly<Record<OutcomeState, CommitStatus['state']>> = {
  pending: 'pending',
  published: 'success',
  superseded: 'success',
  refused: 'failure',
  failed: 'error',
};

const WORDS: Readonly<Record<OutcomeState, string>> = {
  pending: 'waits to be published',
  published: 'published',
  superseded: 'published with a newer commit',
  refused: 'merged, not published',
  failed: 'not published yet',
};

/** Bytes of a commit status's description at most. */
const DESCRIPTION = 140;

/**
 * Reports the status, then writes the record: what is recorded was told. A commit whose end is known
 * does not wait again, though its message came twice.
 */
export async function tellOutcome(
  { records, forge }: { readonly records: RecordStore; readonly forge: Forge },
  message: CatalogMessage,
  { state, detail }: Pick<Outcome, 'state' | 'detail'>,
): Promise<void> {
  const { repository, catalog, commit } = message;
  const outcome: Outcome = { repository, catalog, commit, state, detail };
  if (state === 'pending' && (await records.get(keyOf(outcome))) !== undefined) return;
  await forge.report({
    repository,
    commit,
    context: `portolan/publish ${catalog}`,
    state: STATES[state],
    description: `${WORDS[state]}: ${detail}`.slice(0, DESCRIPTION),
  });
  await records.put(keyOf(outcome), new TextEncoder().encode(`${JSON.stringify(outcome)}\n`));
}

/** What became of a commit's catalog so far; undefined when nothing is known of it. */
export async function outcomeAt(
  records: RecordStore,
  of: Pick<Outcome, 'repository' | 'catalog' | 'commit'>,
): Promise<Outcome | undefined> {
  const record = await records.get(keyOf(of));
  const value: unknown = record && JSON.parse(new TextDecoder().decode(record.bytes));
  return isObject(value) ? (value as unknown as Outcome) : undefined;
}

function keyOf({ repository, catalog, commit }: Pick<Outcome, 'repository' | 'catalog' | 'commit'>): string {
  return `${OUTCOMES}${repository}/${encodeURIComponent(catalog)}/${commit}`;
}

/** Outcomes of all commits that a store remembers. */
export async function outcomesIn(records: RecordStore): Promise<Outcome[]> {
  const found: Outcome[] = [];
  for (const key of await records.list(OUTCOMES)) {
    const record = await records.get(key);
    const value: unknown = record && JSON.parse(new TextDecoder().decode(record.bytes));
    if (isObject(value)) found.push(value as unknown as Outcome);
  }
  return found;
}
