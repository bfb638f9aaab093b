/** Signing what a mirror has, when a copy is complete: `mirror sync` and `mirror copy` with `--sign-key`. */
import { resolve } from 'node:path';
import {
  FRESHNESS_PREDICATE,
  freshnessText,
  InvalidFreshness,
  type SignedStatement,
  textOf,
} from '../../../catalog/mirror/freshness/freshness.ts';
import { formatReference, type Reference } from '../../../catalog/reference.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { receiptAt } from '../../mirror/archive/reader.ts';
import type { ArchivedFile } from '../../mirror/archive/receipt.ts';
import type { CopyRequest } from '../../mirror/copy.ts';
import type { CopyJob } from '../../mirror/copy-jobs.ts';
import {
  type FoundStatement,
  FRESHNESS,
  putStatement,
  statementBeside,
  statementIn,
  trustedStatement,
} from '../../mirror/freshness.ts';
import type { Registry } from '../../ports.ts';
import { publicKeyOf, signedStatement } from '../../publish/attest/sign.ts';
import type { Terminal } from '../../terminal.ts';
import { parseDuration, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { folderOf } from './copy-route.ts';

export const SIGNING_OPTIONS = {
  'sign-key': {
    value: 'FILE',
    description: 'private key (PEM) to sign a freshness statement with: what the mirror has, and until when',
  },
  'fresh-for': {
    value: 'DURATION',
    description: 'how long the freshness statement is valid, for example 12h or 7d (default: 30d)',
  },
} as const;

export interface Signing {
  /** PEM. */
  readonly privateKey: string;
  /** Of the private one, as PEM: by it, earlier statements are known as our own. */
  readonly publicKey: string;
  /** Milliseconds. */
  readonly freshFor: number;
}

/**
 * The key and the time for which a statement is fresh; undefined if nothing is to be signed.
 *
 * @throws PipelineError `usage`, `not-found`
 */
export function signingOf(
  command: Command,
  { text }: Invocation,
  { directory }: Pick<Terminal, 'directory'>,
): Signing | undefined {
  const file = text('sign-key');
  const duration = text('fresh-for');
  if (file === undefined) {
    if (duration !== undefined) throw usageError(command, '--fresh-for needs --sign-key');
    return undefined;
  }
  const privateKey = readText(resolve(directory, file));
  const freshFor = parseDuration(duration ?? '30d');
  // Neither undefined, for another text, nor 0: a statement that is never fresh.
  if (freshFor) return { privateKey, publicKey: publicKeyOf(privateKey), freshFor };
  const expected = 'minutes, hours or days, for example 90m, 12h or 7d';
  throw usageError(command, `--fresh-for must be ${expected}, not ${JSON.stringify(duration)}`);
}

/** The digests of images that a copy has brought, by their names. */
interface Arrivals {
  readonly images: ReadonlyMap<string, string>;
  readonly arrived: NonNullable<CopyRequest['arrived']>;
}

/** An empty collection, and what a copy calls for each image. */
export function collectArrivals(): Arrivals {
  const images = new Map<string, string>();
  return { images, arrived: ({ to }, digest) => void images.set(formatReference(to), digest) };
}

/** What is to be signed, and where it goes. */
interface CopiedState {
  readonly jobs: readonly CopyJob[];
  /** Destinations of the index images. */
  readonly indexes: readonly string[];
  readonly images: Arrivals['images'];
  /** Destinations that are whole in the mirror; undefined where nobody looked. */
  readonly whole?: ReadonlySet<string> | undefined;
  /** The directory that keeps the statement for the next one, and for `mirror verify`. */
  readonly folder: string;
  /** Where the mirror is; not asked for an archive. */
  readonly registry: Registry;
}

/** What came of it, for reports. */
export interface SignedReport {
  readonly version: number;
  readonly freshUntil: string;
}

/**
 * Signs what a mirror or an archive has, and puts the statement there.
 *
 * @returns undefined where no index image is there, after saying so
 * @throws PipelineError `usage` where the clock is behind the statement before, and what the registry answers
 */
export async function signState(
  signing: Signing,
  state: CopiedState,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<SignedReport | undefined> {
  const { indexes, ...there } = partsOf(state);
  if (indexes.length === 0) {
    terminal.err('not signed: no index image was copied\n');
    return undefined;
  }
  const { directory } = terminal;
  const [archive, since] = ['to-archive', 'since'].map((option) => {
    const path = invocation.text(option);
    return path === undefined ? undefined : resolve(directory, path);
  });
  const { folder, registry } = state;
  // The statement before may be in the folder, in the earlier archive, or in the mirror, if that can be asked: there, all index
  // images get the same one.
  const candidates = [
    statementIn(folder),
    since === undefined ? undefined : statementIn(folderOf(since)),
    archive === undefined && indexes[0] ? await statementBeside(indexes[0], registry) : undefined,
  ];
  const before = await newestOf(candidates, signing, terminal);
  const { version, freshUntil, bytes } = await signedAt(terminal.now(), {
    ...there,
    indexes,
    before,
    signing,
    archived: archive === undefined ? undefined : receiptAt(archive).files,
  });
  const files = new Map([[FRESHNESS, new TextDecoder().decode(bytes)]]);
  writeFiles(folder, files);
  if (archive !== undefined) writeFiles(archive, files);
  else for (const index of indexes) await putStatement(index, bytes, registry);
  return { version, freshUntil: textOf(freshUntil) };
}

/** What a statement is about. All names are those of the mirror. */
interface Parts {
  readonly indexes: readonly Reference[];
  /** The digest of each image that was copied as a whole, index images included. */
  readonly images: ReadonlyMap<string, string>;
  /** Images of the plan that were not copied. */
  readonly missing: readonly string[];
}

/** The images that a statement names, by reference, and those that were not copied. */
function partsOf({ jobs, indexes, images, whole }: CopiedState): Parts {
  const there = new Map<string, string>();
  const missing: string[] = [];
  const found: Reference[] = [];
  for (const { destination, to } of jobs) {
    const name = formatReference(to);
    const digest = whole === undefined || whole.has(destination) ? images.get(name) : undefined;
    if (digest === undefined) {
      missing.push(name);
      continue;
    }
    there.set(name, digest);
    if (indexes.includes(destination)) found.push(to);
  }
  return { indexes: found, images: there, missing };
}

interface Signed {
  readonly version: number;
  readonly freshUntil: Date;
  readonly bytes: Uint8Array;
}

/** Signs a statement of what the mirror has. @throws PipelineError `usage` if the clock is behind the statement before */
async function signedAt(
  madeAt: Date,
  {
    indexes,
    images,
    missing,
    before,
    signing,
    archived,
  }: Parts & {
    readonly before: SignedStatement | undefined;
    readonly signing: Signing;
    readonly archived: readonly ArchivedFile[] | undefined;
  },
): Promise<Signed> {
  if (before && before.statement.madeAt > madeAt)
    throw new PipelineError(
      'usage',
      `not signed: the clock of this machine says ${textOf(madeAt)}, but the statement before is of ${textOf(before.statement.madeAt)}`,
      { hint: 'correct the clock, then run the command again' },
    );
  const freshUntil = new Date(madeAt.getTime() + signing.freshFor);
  // Not below the seconds since 1970: it grows although somebody lost the statement before.
  const version = Math.max((before?.version ?? 0) + 1, Math.floor(madeAt.getTime() / 1000));
  const text = freshnessText({
    version,
    madeAt,
    freshUntil,
    ...(before && { predecessor: { version: before.version, digest: before.digest } }),
    indexes: new Map(indexes.map(formatReference).map((name) => [name, images.get(name) ?? ''])),
    images,
    missing,
    ...(archived && { files: new Map(archived.map(({ name, digest }) => [name, digest])) }),
  });
  const signer = { kind: 'key', key: signing.privateKey } as const;
  const { bytes } = await signedStatement(new TextEncoder().encode(text), FRESHNESS_PREDICATE, signer);
  return { version, freshUntil, bytes };
}

/** The newest statement with our signature; undefined if none has it. */
async function newestOf(
  candidates: readonly (FoundStatement | undefined)[],
  { publicKey }: Signing,
  { err }: Pick<Terminal, 'err'>,
): Promise<SignedStatement | undefined> {
  let newest: SignedStatement | undefined;
  for (const one of candidates) {
    if (!one) continue;
    const signed = await oursOrNone(one, publicKey);
    if (!signed)
      err(`${plainText(one.where)} is not signed with this key: the new statement does not follow it\n`);
    else if (signed.version > (newest?.version ?? 0)) newest = signed;
  }
  return newest;
}

/** A statement that our key has signed; undefined for any other. */
async function oursOrNone(found: FoundStatement, publicKey: string): Promise<SignedStatement | undefined> {
  try {
    return await trustedStatement(found, { kind: 'keys', keys: [publicKey] });
  } catch (error) {
    // It has no signature with this key, which the caller reports.
    if (error instanceof InvalidFreshness) return undefined;
    throw error;
  }
}

/** `signed: freshness statement 1767225600, valid until 2026-01-31T00:00:00Z`. */
export function signedLine({ version, freshUntil }: SignedReport): string {
  return `signed: freshness statement ${version}, valid until ${freshUntil}`;
}
