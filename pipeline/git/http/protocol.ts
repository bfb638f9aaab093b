/**
 * Requests and answers of git's protocol, version 2.
 *
 * @see https://git-scm.com/docs/gitprotocol-v2
 */
import { PipelineError } from '../../error.ts';
import { isObjectId } from '../objects.ts';
import type { ObjectFormat } from './pack.ts';

/** What a server can do, as far as it matters here. */
export interface Capabilities {
  readonly format: ObjectFormat;
  /** What is lacking to read a part of a repository; empty when nothing is. */
  readonly lacking: readonly string[];
}

/**
 * Reads what a server says of itself. A server that speaks an older version lacks version 2.
 *
 * @throws PipelineError `bad-answer` for any other answer
 */
export function readCapabilities(answer: Buffer): Capabilities {
  const lines = textLines(answer);
  const first = lines[0] ?? '';
  // GitHub names the service first, as servers of older versions do.
  const rest = first.startsWith('# service=') ? lines.slice(1) : lines;
  const values = new Map(rest.map((line) => split(line, '=')));
  if (rest[0] !== 'version 2') return { format: 'sha1', lacking: ['version 2 of the protocol'] };
  const fetching = (values.get('fetch') ?? '').split(' ');
  const format = values.get('object-format') ?? 'sha1';
  const lacking = [
    ...(values.has('ls-refs') ? [] : ['ls-refs']),
    ...['filter', 'shallow'].filter((feature) => !fetching.includes(feature)),
    ...(isFormat(format) ? [] : [`a known object format (it has ${JSON.stringify(format)})`]),
  ];
  return { format: isFormat(format) ? format : 'sha1', lacking };
}

function isFormat(text: string): text is ObjectFormat {
  return text === 'sha1' || text === 'sha256';
}

/** Asks where a reference is. */
export function refRequest(ref: string, format: ObjectFormat): string {
  return request('ls-refs', format, [`ref-prefix ${ref}`]);
}

/** Id of the commit that a reference names; undefined when there is no such reference. */
export function readRef(answer: Buffer, ref: string): string | undefined {
  // Lines are `ID REF`: the prefix that was asked for may have more references than this one.
  const ids = new Map(textLines(answer).map((line) => split(line, ' ').reverse() as [string, string]));
  const id = ids.get(ref);
  if (id !== undefined && !isObjectId(id)) throw badAnswer(`${JSON.stringify(id)} is not an object id`);
  return id;
}

/** Which objects are asked for. */
export interface Wanted {
  /** Ids of commits, trees or blobs; all of them come, whatever the filter. */
  readonly wants: readonly string[];
  /** Ids of commits; what they lead to is left out. */
  readonly haves?: readonly string[];
  /** What else comes: of what the wanted lead to, neither trees nor blobs, or no blobs. */
  readonly filter: 'tree:0' | 'blob:none';
  /** Commits behind each other that come; all when undefined. */
  readonly depth?: number;
}

/** Asks for objects. */
export function fetchRequest({ wants, haves = [], filter, depth }: Wanted, format: ObjectFormat): string {
  return request('fetch', format, [
    'no-progress',
    'ofs-delta',
    ...wants.map((id) => `want ${id}`),
    ...haves.map((id) => `have ${id}`),
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    `filter ${filter}`,
    'done',
  ]);
}

function request(command: string, format: ObjectFormat, parameters: readonly string[]): string {
  const head = [`command=${command}`, 'agent=portolan', `object-format=${format}`];
  return head.map(pktLine).join('') + DELIMITER + parameters.map(pktLine).join('') + FLUSH;
}

/** Bands in which the bytes of a pack, messages, and a last message come. */
const PACK = 1;
const FATAL = 3;

/**
 * The pack in the answer to a fetch.
 *
 * @throws PipelineError `not-found` for an object that the server does not have or serve, `bad-answer`
 */
export function readFetch(answer: Buffer): Buffer {
  const pack: Buffer[] = [];
  let isPack = false;
  let isBegin = true;
  for (const line of pktLines(answer)) {
    if (!Buffer.isBuffer(line)) isBegin = true;
    else if (isPack) {
      if (line[0] === PACK) pack.push(line.subarray(1));
      if (line[0] === FATAL) throw refusal(textOf(line.subarray(1)));
    } else if (isBegin) {
      // The name of a section.
      const name = checkedText(line);
      isPack = name === 'packfile';
      isBegin = false;
    }
  }
  if (!isPack) throw badAnswer('the answer has no pack');
  return Buffer.concat(pack);
}

/** Lines of text of an answer, marks left out. */
function textLines(answer: Buffer): string[] {
  return [...pktLines(answer)].flatMap((line: Line) => (Buffer.isBuffer(line) ? [checkedText(line)] : []));
}

/** The text of a line. @throws PipelineError for an error of the server */
function checkedText(line: Buffer): string {
  const text = textOf(line);
  if (text.startsWith('ERR ')) throw refusal(text.slice(4));
  return text;
}

/** Characters of a server's message that are passed on. */
const MESSAGE = 300;

/** The error for a message with which a server refuses. Its words are shortened, and safe to show. */
function refusal(message: string): PipelineError {
  const [, id] = /not our ref ([0-9a-f]{40,64})/.exec(message) ?? [];
  if (id !== undefined) return new PipelineError('not-found', `the repository does not serve ${id}`);
  const words = message
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE);
  return new PipelineError('bad-answer', `the git server refused: ${words}`, { retryable: true });
}

/** The text before and behind the first `at`; all of it and nothing where there is none. */
function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

// Lines of git's wire protocol: four hexadecimal digits with the length of the line, themselves counted, and its bytes.
//
// @see https://git-scm.com/docs/gitprotocol-common

/** A line, or one of the marks that have no bytes: the end of a section, the end of all. */
type Line = Buffer | 'delimiter' | 'flush';

const FLUSH = '0000';
const DELIMITER = '0001';

/** Digits of a length. */
const DIGITS = 4;
/** Longest line with its length, in bytes. */
const LONGEST = 65520;

/** One line of text, with the line feed that git expects at its end. */
export function pktLine(text: string): string {
  const bytes = Buffer.byteLength(text) + DIGITS + 1;
  if (bytes > LONGEST)
    throw new PipelineError('too-large', `a line of ${bytes} bytes is too long for git's protocol`);
  return `${bytes.toString(16).padStart(DIGITS, '0')}${text}\n`;
}

/**
 * The lines of an answer, in order; each shares its memory with the answer.
 *
 * @throws PipelineError `bad-answer` for what is not lines, or ends within one
 */
export function* pktLines(answer: Buffer): Generator<Line> {
  for (let at = 0; at < answer.length; ) {
    const digits = answer.toString('latin1', at, at + DIGITS);
    if (!/^[0-9a-f]{4}$/i.test(digits))
      throw badAnswer(`${JSON.stringify(digits)} is not the length of a line`);
    const length = Number.parseInt(digits, 16);
    if (length < DIGITS) {
      if (length === 3) throw badAnswer('a line has the reserved length 3');
      at += DIGITS;
      // The mark for the end of a response has length 2: nothing comes behind it over HTTP.
      yield length === 1 ? 'delimiter' : 'flush';
      continue;
    }
    if (length > LONGEST) throw badAnswer(`a line has ${length} bytes, more than the protocol allows`);
    if (at + length > answer.length) throw badAnswer('the answer ends within a line');
    yield answer.subarray(at + DIGITS, at + length);
    at += length;
  }
}

/** A line of text without the line feed at its end. */
export function textOf(line: Buffer): string {
  return line.toString('utf8').replace(/\n$/, '');
}

/** The error for an answer that is not in git's protocol. @param why a sentence without a capital and a full stop */
function badAnswer(why: string): PipelineError {
  return new PipelineError('bad-answer', `the git server broke the protocol: ${why}`);
}
