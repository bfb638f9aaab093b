/** What is published, from which commit, and what is pending or failed. */
import { compareText } from '../../../catalog/go/text.ts';
import { PipelineError } from '../../error.ts';
import type { RecordStore, Retirement } from '../../ports.ts';
import { amountText, plainText } from '../../text.ts';
import { type Current, type PublishedFrom, publishedIn } from '../documents.ts';
import type { RingState } from '../rings/state.ts';
import { recordRings, ringsIn } from '../rings/store.ts';
import { type CatalogStatus, type ComparePorts, compareBranch, type TagStatus } from './compare.ts';
import { lastFailures, lastOutcomes, type Outcome } from './outcome.ts';
import type { DeliveryPorts } from './ports.ts';

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
  /** The last failure of each catalog, however it went on; absent where none was. */
  readonly lastFailures?: readonly Outcome[];
  /** What was found beside the branch and the registry; absent where only records were read. */
  readonly catalogs?: readonly CatalogStatus[];
  /** Why further branches could not be looked at; absent where all could. */
  readonly unreached?: readonly string[];
  /** When that was looked at, in ISO 8601. */
  readonly at?: string;
}

/** A status beside the branches and the registry, for whoever has them. */
export async function statusBeside(
  branches: readonly PublishedFrom[],
  ports: Omit<ComparePorts, 'ringStore'> &
    Partial<Pick<ComparePorts, 'ringStore'>> &
    Pick<DeliveryPorts, 'now'>,
): Promise<DeliveryStatus> {
  const { records, now } = ports;
  const ringStore: ComparePorts['ringStore'] = (catalog, name) => {
    if (ports.ringStore) return ports.ringStore(catalog, name);
    if (records) return recordRings(records, catalog, name);
    throw new TypeError('internal error: rings are kept nowhere');
  };
  const known = records ? await statusOf(records) : { published: [], last: [] };
  const catalogs: CatalogStatus[] = [];
  const unreached: string[] = [];
  for (const from of branches) {
    try {
      catalogs.push(...(await compareBranch(from, { ...ports, ringStore })));
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      unreached.push(`cannot look at ${from.repository} ${from.branch}: ${error.message}`);
    }
  }
  return { ...known, catalogs, at: now().toISOString(), ...(unreached.length === 0 ? {} : { unreached }) };
}

/** What the records say of all catalogs. */
export async function statusOf(records: RecordStore): Promise<DeliveryStatus> {
  const keys: string[] = [];
  const note = (key: string): void => void keys.push(key);
  const [published, last, failures, { rings, errors }] = await Promise.all([
    publishedIn(records, new Set(), note),
    lastOutcomes(records, note),
    lastFailures(records, note),
    ringsIn(records),
  ]);
  return {
    published,
    last,
    ...(failures.length === 0 ? {} : { lastFailures: failures }),
    ...(rings.length === 0 ? {} : { rings }),
    ...(errors.length === 0 ? {} : { unreadRings: errors.map(({ message }) => message) }),
    ...(keys.length === 0 ? {} : { unread: keys.sort(compareText) }),
  };
}

/** Whether the newest content of every catalog is published and in the registry, and all records can be read. */
export function isSettled(status: DeliveryStatus): boolean {
  const { last, unreadRings = [], unread = [], unreached = [], catalogs = [] } = status;
  const unknown = unreadRings.length + unread.length + unreached.length;
  return unknown === 0 && last.every(isEnded) && catalogs.every(({ problems }) => problems.length === 0);
}

/**
 * Whether a catalog needs nothing more. Its last word is never `superseded`: that names the newer commit as
 * published.
 */
function isEnded({ state }: Outcome): boolean {
  return state === 'published' || state === 'retired';
}

interface CatalogName {
  readonly catalog: string;
  readonly repository: string | undefined;
}

/** Catalogs of the same name in two repositories are different; old records do not name the repository. */
function isSame(one: Outcome, { catalog, repository }: CatalogName): boolean {
  return one.catalog === catalog && (repository === undefined || one.repository === repository);
}

/** The status as `portolan status` prints it. */
export function statusText(status: DeliveryStatus): string {
  const { published, last, unreadRings = [], unread = [], unreached = [], catalogs = [] } = status;
  // A published image is shown once: with its branch where that was looked at, else as it was recorded.
  const comparedTags = new Set(catalogs.map((one) => `${one.repository} ${one.catalog} ${one.tag?.image}`));
  const lines = catalogs.flatMap((one) => [...comparedLines(one, status), ...openLines(one, status)]);
  const shownNames: CatalogName[] = [...catalogs];
  for (const current of published) {
    const { catalog, image, from } = current;
    shownNames.push({ catalog, repository: from?.repository });
    if (comparedTags.has(`${from?.repository} ${catalog} ${image}`)) continue;
    lines.push(...publishedLines(current), ...openLines({ catalog, repository: from?.repository }, status));
  }
  for (const one of last.filter((outcome) => !shownNames.some((name) => isSame(outcome, name))))
    lines.push(`${plainText(one.repository)}  ${plainText(one.catalog)}`, lineOf(one, status.at));
  const records = unread.map((key) => `the record ${key} cannot be read`);
  lines.push(...[...unreadRings, ...records, ...unreached].map(plainText));
  return lines.length === 0 ? 'nothing has been published yet\n' : `${lines.join('\n')}\n`;
}

/** The lines of one catalog whose branch and registry were looked at. */
function comparedLines(
  one: CatalogStatus,
  { at, lastFailures: failures = [], last }: DeliveryStatus,
): string[] {
  const { repository, branch, catalog, tag, rings, holds, problems, committed } = one;
  const open = last.some((outcome) => isSame(outcome, one) && !isEnded(outcome));
  const failure = failures.find((outcome) => isSame(outcome, one));
  const image = tag === undefined ? '' : `  ${plainText(tag.image)}`;
  const age = [committed && ageOf(committed, at), behindText(one)].filter(Boolean).join(', ');
  const epoch = tag?.epoch ? `, epoch ${tag.epoch}` : '';
  return [
    `${plainText(repository)} ${plainText(branch)}  ${plainText(catalog)}${image}`,
    ...(tag?.commit === undefined ? [] : [`  commit  ${tag.commit} (${age}${epoch})`, ...digestLines(tag)]),
    ...rings.map((ring) => `  ring    ${plainText(ring.image)}  ${ring.commit ?? 'none'}`),
    ...holds.map(({ commit, bundle, by, why }) =>
      plainText(`  held    ${commit ?? bundle ?? 'the catalog'}: ${why} (${by})`),
    ),
    // One that is still open is shown in a line of its own.
    ...(failure && !open ? [`  last failure  ${lineOf(failure, at).trim()}`] : []),
    ...problems.map((problem) => `  PROBLEM ${plainText(problem)}`),
  ];
}

/**
 * The digest that was published last, and what the registry's tag names: people see at once whether they
 * differ.
 */
function digestLines({ digest, registry }: TagStatus): string[] {
  const found = registry === undefined ? 'unknown' : (registry ?? 'no such tag');
  return [`  digest  ${digest}`, `  tag     ${found === digest ? 'the same' : found}`];
}

/** How far the published commit is behind its branch, for people. */
function behindText({ behind, branch, tag, problems }: CatalogStatus): string {
  if (behind === undefined) return tag?.commit === undefined ? '' : `not among the last commits of ${branch}`;
  if (behind === 0) return `newest of ${branch}`;
  // Without problems, the branch's newest content is published.
  const same = problems.length === 0 ? ', same content' : '';
  return `${amountText(behind, 'commit')} behind ${branch}${same}`;
}

/** The latest pending, refused and failed publishes. */
function openLines(name: CatalogName, { last, at }: DeliveryStatus): string[] {
  return last.filter((one) => isSame(one, name) && !isEnded(one)).map((one) => lineOf(one, at));
}

/** How long ago something was, in the largest unit that fits. */
function ageOf(time: string, now: string | undefined): string {
  const seconds = Math.max(0, Math.floor((Date.parse(now ?? time) - Date.parse(time)) / 1000));
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const)
    if (seconds >= length) return `${amountText(Math.floor(seconds / length), unit)} old`;
  return `${amountText(seconds, 'second')} old`;
}

/** The lines about an image that is published, with its digest and the commit that it was built from. */
function publishedLines({ catalog, image, commit, digest, epoch, retired, from }: Current): string[] {
  const source = from === undefined ? '' : `${plainText(from.repository)} ${plainText(from.branch)}  `;
  return [
    `${source}${plainText(catalog)}  ${plainText(image)}${retired === undefined ? '' : `  (${RETIRED[retired]})`}`,
    `  digest  ${digest}`,
    `  commit  ${commit}${epoch > 0 ? ` (epoch ${epoch})` : ''}`,
  ];
}

/** What became of the image of a retired catalog, in words. */
const RETIRED: Readonly<Record<Retirement, string>> = {
  keep: 'retired, image kept',
  retag: 'retired, image has another tag',
  delete: 'retired, image deleted',
};

/** One outcome in a line. The open states have at most 7 letters, so that commits are below each other. */
function lineOf({ state, commit, detail, at }: Outcome, now: string | undefined): string {
  const age = at === undefined || now === undefined ? '' : ` (${ageOf(at, now)})`;
  return `  ${state.padEnd(7)} ${commit}${age}: ${plainText(detail)}`;
}
