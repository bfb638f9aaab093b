/** What is published, from which commit, and what is pending or failed. */
import { compareText } from '../../../catalog/go/text.ts';
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
  /** Keys of other records that cannot be read; absent where all can. */
  readonly unread?: readonly string[];
}

export async function statusOf(records: RecordStore): Promise<DeliveryStatus> {
  const keys: string[] = [];
  const note = (key: string): void => void keys.push(key);
  const [published, last, { rings, unread }] = await Promise.all([
    publishedIn(records, new Set(), note),
    lastOutcomes(records, note),
    ringsIn(records),
  ]);
  return {
    ...{ published, last },
    ...(rings.length === 0 ? {} : { rings }),
    ...(unread.length === 0 ? {} : { unreadRings: unread.map(({ message }) => message) }),
    ...(keys.length === 0 ? {} : { unread: keys.sort(compareText) }),
  };
}

/** Whether the latest commit of every catalog is published, and all records can be read. */
export function isSettled({ last, unreadRings = [], unread = [] }: DeliveryStatus): boolean {
  return (
    unreadRings.length + unread.length === 0 &&
    last.every(({ state }) => state === 'published' || state === 'retired')
  );
}

/** The status for people. */
export function statusText({ published, last, unreadRings = [], unread = [] }: DeliveryStatus): string {
  const unreadable = [...unreadRings, ...unread.map((key) => `the record ${key} cannot be read`)].map(plain);
  if (published.length === 0 && last.length === 0 && unreadable.length === 0)
    return 'nothing has been published yet\n';
  const isSame = (one: Outcome, { catalog, from }: Current): boolean =>
    one.catalog === catalog && (from === undefined || one.repository === from.repository);
  const lines = published.flatMap((current) => [
    ...publishedLines(current),
    ...last
      .filter((one) => isSame(one, current) && one.state !== 'published' && one.state !== 'retired')
      .map(lineOf),
  ]);
  const unpublished = last.filter((one) => !published.some((current) => isSame(one, current)));
  const others = unpublished.flatMap((one) => [
    `${plain(one.repository)}  ${plain(one.catalog)}`,
    lineOf(one),
  ]);
  return `${[...lines, ...others, ...unreadable].join('\n')}\n`;
}

function publishedLines({ catalog, image, commit, digest, epoch, retired, from }: Current): string[] {
  const source = from === undefined ? '' : `${plain(from.repository)} ${plain(from.branch)}  `;
  return [
    `${source}${plain(catalog)}  ${plain(image)}${retired === undefined ? '' : `  (${RETIRED[retired]})`}`,
    `  digest  ${digest}`,
    `  commit  ${commit}${epoch > 0 ? ` (epoch ${epoch})` : ''}`,
  ];
}

const RETIRED: Readonly<Record<Retirement, string>> = {
  keep: 'retired, image kept',
  retag: 'retired, image has another tag',
  delete: 'retired, image deleted',
};

function lineOf({ state, commit, detail }: Outcome): string {
  return `  ${state.padEnd(7)} ${commit}: ${plain(detail)}`;
}
