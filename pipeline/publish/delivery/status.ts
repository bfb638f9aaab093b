/** What is published, from which commit, and what is pending or failed. */
import type { RecordStore, Retirement } from '../../ports.ts';
import { plain } from '../../text.ts';
import { type Current, publishedIn } from '../documents.ts';
import { type RingState, ringsIn } from '../rings/state.ts';
import { lastOutcomes, type Outcome } from './outcome.ts';

export interface DeliveryStatus {
  readonly published: readonly Current[];
  /** The latest outcome for each catalog. */
  readonly last: readonly Outcome[];
  /** Absent where no catalog has rings. */
  readonly rings?: readonly RingState[];
  /** Why the rings of further catalogs cannot be read; absent where all can. */
  readonly unreadRings?: readonly string[];
}

export async function statusOf(records: RecordStore): Promise<DeliveryStatus> {
  const [published, last, { rings, unread }] = await Promise.all([
    publishedIn(records),
    lastOutcomes(records),
    ringsIn(records),
  ]);
  return {
    ...{ published, last },
    ...(rings.length === 0 ? {} : { rings }),
    ...(unread.length === 0 ? {} : { unreadRings: unread.map(({ message }) => message) }),
  };
}

/** Whether the latest commit of every catalog is published, and all rings can be read. */
export function isSettled({ last, unreadRings = [] }: DeliveryStatus): boolean {
  return unreadRings.length === 0 && last.every(({ state }) => state === 'published' || state === 'retired');
}

/** The status for people. */
export function statusText({ published, last, unreadRings = [] }: DeliveryStatus): string {
  if (published.length === 0 && last.length === 0 && unreadRings.length === 0)
    return 'nothing has been published yet\n';
  const lines = published.flatMap(({ catalog, image, commit, digest, epoch, retired }) => [
    `${plain(catalog)}  ${plain(image)}${retired === undefined ? '' : `  (${RETIRED[retired]})`}`,
    `  digest  ${digest}`,
    `  commit  ${commit}${epoch > 0 ? ` (epoch ${epoch})` : ''}`,
    ...last
      .filter((one) => one.catalog === catalog && one.state !== 'published' && one.state !== 'retired')
      .map(lineOf),
  ]);
  const known = new Set(published.map(({ catalog }) => catalog));
  const unpublished = last.filter(({ catalog }) => !known.has(catalog));
  const others = unpublished.flatMap((one) => [plain(one.catalog), lineOf(one)]);
  return `${[...lines, ...others, ...unreadRings.map(plain)].join('\n')}\n`;
}

const RETIRED: Readonly<Record<Retirement, string>> = {
  keep: 'retired, image kept',
  retag: 'retired, image has another tag',
  delete: 'retired, image deleted',
};

function lineOf({ state, commit, detail }: Outcome): string {
  return `  ${state.padEnd(7)} ${commit}: ${plain(detail)}`;
}
