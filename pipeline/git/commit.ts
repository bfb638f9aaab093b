/** What a commit says of itself: a claim, since anybody can write anything there. */
import { PipelineError } from '../error.ts';
import type { ObjectReader } from './objects.ts';

export interface Signer {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970. */
  readonly time: number;
}

export interface Trailer {
  /** Lower case, such as `signed-off-by`. */
  readonly key: string;
  readonly value: string;
}

export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signer;
  readonly committer: Signer;
  readonly message: string;
  readonly trailers: readonly Trailer[];
  /** The signature as it stands, and the bytes that it signs; undefined for an unsigned commit. */
  readonly signature: { readonly armour: string; readonly signed: string } | undefined;
}

/** Largest commit that is read, in bytes. */
const COMMIT_BYTES = 1024 * 1024;

/** Reads a commit. @throws PipelineError `not-found` when this clone does not have it, `git` when it is not a commit */
export async function readCommit(objects: ObjectReader, id: string): Promise<Commit> {
  const { type, bytes } = await objects.read(id, COMMIT_BYTES);
  if (type !== 'commit') throw new PipelineError('git', `object ${id} is a ${type}, not a commit`);
  return parseCommit(id, bytes.toString('utf8'));
}

/** Reads a commit object's text. */
export function parseCommit(id: string, text: string): Commit {
  const split = text.indexOf('\n\n');
  const message = split < 0 ? '' : text.slice(split + 2);
  const headers = parseHeaders(split < 0 ? text : text.slice(0, split));
  const one = (key: string): string => headers.find((header) => header.key === key)?.value ?? '';
  const armour = one('gpgsig') || one('gpgsig-sha256');
  return {
    id,
    tree: one('tree'),
    parents: headers.filter(({ key }) => key === 'parent').map(({ value }) => value),
    author: parseSigner(one('author')),
    committer: parseSigner(one('committer')),
    message,
    trailers: parseTrailers(message),
    signature: armour === '' ? undefined : { armour, signed: withoutSignature(text, split) },
  };
}

/** Headers, those of several lines (signatures) joined. */
function parseHeaders(text: string): Trailer[] {
  const headers: { key: string; value: string }[] = [];
  for (const line of text.split('\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last) {
      last.value += `\n${line.slice(1)}`;
      continue;
    }
    const space = line.indexOf(' ');
    if (space > 0) headers.push({ key: line.slice(0, space), value: line.slice(space + 1) });
  }
  return headers;
}

/** The bytes that were signed: the commit without the signature's own header. */
function withoutSignature(text: string, headerEnd: number): string {
  const headers = text.slice(0, headerEnd + 1);
  return headers.replace(/^gpgsig(?:-sha256)? .*\n(?: .*\n)*/gm, '') + text.slice(headerEnd + 1);
}

/** Reads `NAME <EMAIL> SECONDS ZONE`; a trailer has no time, which is then 0. */
function parseSigner(text: string): Signer {
  const [, name = '', email = '', time = '0'] = /^([^<]*?) ?<([^>]*)>(?: (-?[0-9]+))?/.exec(text) ?? [];
  return { name, email, time: Number(time) };
}

const TRAILER = /^([A-Za-z0-9][A-Za-z0-9-]*): *(.+)$/;

/** Trailers of the message's last paragraph; that of the title is none. */
export function parseTrailers(message: string): Trailer[] {
  const paragraphs = message.trimEnd().split(/\n[ \t\r]*\n/);
  if (paragraphs.length < 2) return [];
  const trailers: Trailer[] = [];
  for (const line of (paragraphs.at(-1) ?? '').split('\n')) {
    const [, key, value] = TRAILER.exec(line.trimEnd()) ?? [];
    if (key !== undefined && value !== undefined) trailers.push({ key: key.toLowerCase(), value });
  }
  return trailers;
}

/** Name and email of a trailer such as `Co-authored-by: Ann <ann@example.com>`. */
export function signerOf(trailer: Trailer): Signer {
  return parseSigner(trailer.value);
}
