/** What the steps of a delivery send each other. */

import { createHash } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import { isObjectId } from '../../git/objects.ts';
import type { CommitStatus, Message, Retirement } from '../../ports.ts';

/** Work for a branch. */
interface BranchWork {
  readonly v: 1;
  /** `owner/name`. */
  readonly repository: string;
  readonly branch: string;
}

/** The branch moved. */
export interface PushMessage extends BranchWork {
  readonly kind: 'push';
  /** Id of the commit that it was moved to. */
  readonly commit: string;
  /** Id of the commit that it was moved from, where whoever sent it knows. */
  readonly before?: string;
}

/** Bundles that have arrived on the branch are to be released, when nobody could with the push. */
export interface BundlesMessage extends BranchWork {
  readonly kind: 'bundles';
  readonly commit: string;
  readonly before?: string;
}

/** A catalog of a commit is to be published, unless a newer commit is. */
export interface CatalogMessage extends BranchWork {
  readonly kind: 'catalog';
  readonly commit: string;
  readonly catalog: string;
  /** The branch's newest commit when the push was handled, whose own message goes before this one. */
  readonly behind?: string;
  /** Set when it is to be published though it was before: what is claimed or found is not that any more. */
  readonly again?: true;
  /** Raised by one when the branch's history was rewritten; the standing one when left out. */
  readonly epoch?: number;
}

/** A catalog that the branch has no more is to be retired. */
export interface RetireMessage extends BranchWork {
  readonly kind: 'retire';
  /** The branch's newest commit when the catalog was not found. */
  readonly commit: string;
  readonly catalog: string;
  /** Where its image was published to. */
  readonly place: string;
}

/** Open pull requests are to be checked, as they are when the message is read. */
export interface GateMessage extends GateSubject {
  readonly v: 1;
  readonly kind: 'gate';
  readonly repository: string;
  /** Digest of the event that asks for it: two events are two messages. */
  readonly event: string;
}

/** Which pull requests a gate message is about: all open ones where it says nothing. */
export interface GateSubject {
  /** One. */
  readonly number?: number;
  /** Beside it, those with this head, which it has left. */
  readonly left?: string;
  /** Those with this head; with `base` and `branch`, the head of a group of the branch's merge queue. */
  readonly commit?: string;
  /** Set where the commit's status was: it is checked only if somebody else has set it. */
  readonly set?: true;
  /** Those for this branch, which has moved from `base`; from somewhere unknown without it. */
  readonly branch?: string;
  readonly base?: string;
}

/** The rings of a catalog are to be looked at. */
export interface RingsMessage extends BranchWork {
  readonly kind: 'rings';
  readonly catalog: string;
}

/** Somebody holds images, releases them, or opens a ring early. */
export interface RingMessage extends BranchWork {
  readonly kind: 'ring';
  readonly catalog: string;
  readonly act: 'hold' | 'release' | 'promote';
  readonly by: string;
  readonly why: string;
  /** What is held, or promoted; the whole catalog, or the newest image of the first ring, when left out. */
  readonly commit?: string;
  readonly bundle?: string;
  /** The ring that is opened. */
  readonly tag?: string;
  /**
   * When it was asked for, in ISO 8601: a message that comes again, or late, promotes no other image than the first time,
   * and releases no hold that came after it.
   */
  readonly asked?: string;
}

export type Work =
  | PushMessage
  | BundlesMessage
  | CatalogMessage
  | RetireMessage
  | RingsMessage
  | RingMessage
  | GateMessage;

interface Reporting {
  readonly v: 1;
  readonly kind: 'report';
  readonly repository: string;
  readonly commit: string;
}

/** A commit's status is to be set: that of its publish, or of its bundles. */
interface CommitReport extends Reporting, Pick<CommitStatus, 'state' | 'description'> {
  readonly what: 'commit' | 'bundles';
}

/** The status of one catalog of a commit is to be set, as its record says when the message is read. */
export interface CatalogReport extends Reporting {
  readonly what: 'catalog';
  readonly catalog: string;
  /** Another one each time: the queue is not to take two messages for one. */
  readonly version: string;
}

/** A publish is to be noted beside its commit, or reported to whoever subscribed. */
export interface PublishReport extends Reporting {
  readonly what: 'deployment' | 'event';
  readonly catalog: string;
  /** Prefix of the keys of its documents. */
  readonly documents: string;
}

/** That a catalog was retired is to be reported to whoever subscribed. */
interface RetirementReport extends Reporting {
  readonly what: 'retirement';
  readonly catalog: string;
  /** The place of its image. */
  readonly image: string;
  /** Of the image that was published last. */
  readonly digest: string;
  readonly retired: Retirement;
}

/** What became of a merge is to be reported. Each report has tries of its own, and holds back nothing else. */
export type ReportMessage = CommitReport | CatalogReport | PublishReport | RetirementReport;

/**
 * Catalogs of one repository go in parallel, each in order; so do the pushes to one repository, the statuses of one
 * commit, and the deployments of one catalog.
 */
export function messageOf(work: Work | ReportMessage): Message {
  const body = JSON.stringify(work);
  // Both fit what SQS allows in a group and in an id, whatever the names hold.
  return { group: digestOf(groupOf(work)), id: digestOf(body), body };
}

/** What a message shares with those that must be handled one after the other. */
function groupOf(work: Work | ReportMessage): string {
  if (work.kind === 'push') return work.repository;
  if (work.kind === 'bundles') return `${work.repository} bundles`;
  if (work.kind === 'report') return reportGroupOf(work);
  return `${work.repository}${work.kind === 'gate' ? subjectText(work) : `:${work.catalog}`}`;
}

/** Checks of one pull request stay in order. */
function subjectText({ number, commit, branch }: GateSubject): string {
  return number === undefined ? ` gate ${branch ?? ''} ${commit ?? ''}` : `#${number}`;
}

/**
 * Reports of one status stay in order, and those of a catalog's publishes: one that comes late would show an
 * earlier state.
 */
function reportGroupOf(report: ReportMessage): string {
  const { repository, what, commit } = report;
  if (!('catalog' in report)) return `${repository} ${commit}`;
  const { catalog } = report;
  return what === 'catalog' ? `${repository} ${commit}:${catalog}` : `${repository} ${what}:${catalog}`;
}

/** SHA-256 in hexadecimal digits. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `owner/name`; on GitLab groups lie in groups. */
const REPOSITORY = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\/){1,20}(?!\.\.?$)[A-Za-z0-9._-]{1,100}$/;

/**
 * Reads the body of a message that reports.
 *
 * @throws PipelineError `usage` that names what is wrong with it
 */
export function readReport(body: string): ReportMessage {
  const { kind, repository, ...value } = fieldsOf(body);
  if (kind !== 'report') throw unreadable(`its kind is ${JSON.stringify(kind)}`);
  const { what, state, description, version, documents } = value;
  const base = { v: 1, kind, repository, commit: commitIn(value) } as const;
  if (what === 'commit' || what === 'bundles') {
    if (!isState(state)) throw unreadable(`its state is ${JSON.stringify(state)}`);
    return { ...base, what, state, description: String(description) };
  }
  const catalog = catalogIn(value);
  if (what === 'catalog') return { ...base, what, catalog, version: String(version) };
  if (what === 'retirement') return { ...base, what, catalog, ...retirementIn(value) };
  if (what !== 'deployment' && what !== 'event') throw unreadable(`it reports ${JSON.stringify(what)}`);
  if (typeof documents !== 'string' || !/^documents\/.+\/$/.test(documents)) {
    throw unreadable(`its documents are ${JSON.stringify(documents)}`);
  }
  return { ...base, what, catalog, documents };
}

/** The fields of a report about a retired tag. @throws PipelineError `usage` */
function retirementIn({
  image,
  digest,
  retired,
}: Fields): Pick<RetirementReport, 'image' | 'digest' | 'retired'> {
  if (retired !== 'keep' && retired !== 'retag' && retired !== 'delete')
    throw unreadable(`it is retired as ${JSON.stringify(retired)}`);
  if (typeof image !== 'string' || typeof digest !== 'string')
    throw unreadable(`it is of the image ${JSON.stringify(image)} with the digest ${JSON.stringify(digest)}`);
  return { image, digest, retired };
}

function isState(state: unknown): state is CommitStatus['state'] {
  return state === 'pending' || state === 'success' || state === 'failure' || state === 'error';
}

/**
 * Reads a message's body.
 *
 * @throws PipelineError `usage` that names what is wrong with it; such a message is never handled
 */
export function readWork(body: string): Work {
  const value = fieldsOf(body);
  const { kind, repository } = value;
  if (kind === 'gate') return readGate(value, repository);
  if (kind === 'ring') return ringOf(value, repository);
  if (kind === 'rings') return { v: 1, kind, repository, branch: branchIn(value), catalog: catalogIn(value) };
  if (kind === 'push' || kind === 'bundles' || kind === 'catalog' || kind === 'retire')
    return readMove(value, { kind, repository });
  throw unreadable(`its kind is ${JSON.stringify(kind)}`);
}

/**
 * The fields of a queued message, with those that every kind has validated.
 *
 * @throws PipelineError for a message that cannot be read
 */
function fieldsOf(body: string): Fields & { readonly repository: string } {
  const value = parsedJson(body);
  if (!isObject(value) || value['v'] !== 1) throw unreadable('not a version 1 message');
  const { repository } = value;
  if (typeof repository !== 'string' || !REPOSITORY.test(repository)) {
    throw unreadable(`its repository is ${JSON.stringify(repository)}, expected owner/name`);
  }
  return { ...value, repository };
}

/**
 * Reads the body of a message about rings.
 *
 * @throws PipelineError `usage` as {@link readWork}
 */
export function readRing(body: string): RingMessage {
  const { kind, repository, ...value } = fieldsOf(body);
  if (kind !== 'ring') throw unreadable(`its kind is ${JSON.stringify(kind)}, expected ring`);
  return ringOf(value, repository);
}

/** A message for the gate. @throws PipelineError for a field that is not valid */
function readGate(value: Fields, repository: string): GateMessage {
  const { number, left, commit, set, branch, base, event } = value;
  if (number !== undefined && (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1)) {
    throw unreadable(`its number is ${JSON.stringify(number)}`);
  }
  return {
    ...{ v: 1, kind: 'gate', repository },
    ...(number === undefined ? {} : { number }),
    ...(left === undefined ? {} : { left: commitIn({ commit: left }) }),
    ...(commit === undefined ? {} : { commit: commitIn(value) }),
    ...(set === true ? { set } : {}),
    ...(branch === undefined ? {} : { branch: branchIn(value) }),
    ...(base === undefined ? {} : { base: commitIn({ commit: base }) }),
    event: String(event),
  };
}

/** A message about a ring. @throws PipelineError for a field that is not valid */
function ringOf(value: Fields, repository: string): RingMessage {
  const { act, by, why, commit, bundle, tag, asked } = value;
  if (act !== 'hold' && act !== 'release' && act !== 'promote')
    throw unreadable(`its act is ${JSON.stringify(act)}, expected hold, release or promote`);
  for (const [name, text] of Object.entries({ by, why })) {
    if (!isWord(text))
      throw unreadable(`its ${name} is ${JSON.stringify(text)}, expected 1 to ${LONGEST_WORD} characters`);
  }
  for (const [name, text] of Object.entries({ bundle, tag, asked })) {
    if (text !== undefined && !isWord(text)) throw unreadable(`its ${name} is ${JSON.stringify(text)}`);
  }
  if (act === 'promote' && tag === undefined) throw unreadable('its tag is missing');
  if (asked !== undefined && Number.isNaN(Date.parse(String(asked))))
    throw unreadable(`its asked is ${JSON.stringify(asked)}, expected a time`);
  return {
    ...{ v: 1, kind: 'ring', repository, branch: branchIn(value), catalog: catalogIn(value), act },
    ...{ by: String(by), why: String(why) },
    ...(commit === undefined ? {} : { commit: commitIn(value) }),
    ...(bundle === undefined ? {} : { bundle: String(bundle) }),
    ...(tag === undefined ? {} : { tag: String(tag) }),
    ...(asked === undefined ? {} : { asked: String(asked) }),
  };
}

/** Characters of what people say about rings. */
const LONGEST_WORD = 500;

/** Whether a text can stand in the history of rings: not empty, and not too long. */
function isWord(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST_WORD;
}

type Fields = Readonly<Record<string, unknown>>;

type MoveKind = Exclude<Work['kind'], 'gate' | 'ring' | 'rings'>;

/** A message about a commit of a branch. @throws PipelineError for a field that is not valid */
function readMove(
  value: Fields,
  { kind, repository }: { readonly kind: MoveKind; readonly repository: string },
): Exclude<Work, GateMessage | RingMessage | RingsMessage> {
  const branch = branchIn(value);
  const commit = commitIn(value);
  if (kind === 'push' || kind === 'bundles')
    return { v: 1, kind, repository, branch, commit, ...beforeOf(value['before']) };
  const catalog = catalogIn(value);
  if (kind === 'retire') {
    const { place } = value;
    if (typeof place !== 'string') throw unreadable(`its place is ${JSON.stringify(place)}`);
    return { v: 1, kind, repository, branch, commit, catalog, place };
  }
  const again = value['again'] === true ? ({ again: true } as const) : {};
  const rest = { ...behindOf(value['behind']), ...again, ...epochOf(value['epoch']) };
  return { v: 1, kind, repository, branch, commit, catalog, ...rest };
}

/** The branch's name. @throws PipelineError `usage` for a text that is not one */
function branchIn({ branch }: Fields): string {
  if (typeof branch === 'string' && isBranch(branch)) return branch;
  throw unreadable(`its branch is ${JSON.stringify(branch)}`);
}

/** The commit's id. @throws PipelineError `usage` for a text that is not one */
function commitIn({ commit }: Fields): string {
  if (typeof commit === 'string' && isObjectId(commit)) return commit;
  throw unreadable(`its commit is ${JSON.stringify(commit)}, expected a commit ID`);
}

/** The catalog's name. @throws PipelineError for a name that is empty, or that cannot stand in the key of a record */
function catalogIn({ catalog }: Fields): string {
  // Half of a pair of UTF-16 stands in no key of a record.
  if (typeof catalog === 'string' && catalog !== '' && !/\p{Surrogate}/u.test(catalog)) return catalog;
  throw unreadable(`its catalog is ${JSON.stringify(catalog)}`);
}

/** The commit that the branch had before, if the message names one. */
function beforeOf(before: unknown): { readonly before?: string } {
  if (before === undefined) return {};
  if (typeof before === 'string' && isObjectId(before)) return { before };
  throw unreadable(`it is after ${JSON.stringify(before)}, expected a commit ID`);
}

/** The newest commit of the branch when the push was handled, if its message goes before this one. */
function behindOf(behind: unknown): { readonly behind?: string } {
  if (behind === undefined) return {};
  if (typeof behind === 'string' && isObjectId(behind)) return { behind };
  throw unreadable(`it is behind ${JSON.stringify(behind)}, expected a commit ID`);
}

/** The epoch of the message, a whole number; not every message has one. */
function epochOf(epoch: unknown): { readonly epoch?: number } {
  if (epoch === undefined) return {};
  if (typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch >= 0) return { epoch };
  throw unreadable(`its epoch is ${JSON.stringify(epoch)}`);
}

/** Whether a text names a branch, such as `release-4.20` or `a/b`. As in git, `a..b`, `a//b`, `a.lock`, `a/.b` and `a/` do not. */
export function isBranch(text: string): boolean {
  return /^[\w][\w./+-]{0,200}$/.test(text) && !/\.\.|\/\/|\.lock(?:\/|$)|\/\.|[./]$/.test(text);
}

/** The error for a message that cannot be read, however often it comes. */
function unreadable(why: string): PipelineError {
  return new PipelineError('usage', `invalid message: ${why}`);
}
