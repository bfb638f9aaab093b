/**
 * Freshness statements: what a mirror had, when, and until when that counts as fresh. With them, and with what a
 * machine accepted before, the attacks on updates are found: rollback, freeze, mix-and-match.
 *
 * @see https://theupdateframework.github.io/specification/latest/#goals-for-pki-attacks
 * @see https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
 */
import type { Finding } from '../../finding.ts';
import { isObject } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';
import { tryParseReference } from '../../reference.ts';

export const FRESHNESS_PREDICATE = 'urn:portolan:mirror-freshness:v1';

/** One statement among those of a mirror. */
interface StatementName {
  /** Grows with each statement. */
  readonly version: number;
  /** SHA-256 of the signed bytes. */
  readonly digest: string;
}

/** What was signed. */
export interface FreshnessStatement {
  readonly version: number;
  readonly madeAt: Date;
  readonly freshUntil: Date;
  /** The statement before; absent for the first one. */
  readonly predecessor?: StatementName;
  /** Digests of the index images by their names in the mirror. */
  readonly indexes: ReadonlyMap<string, string>;
  /** Digests of all images, the index images among them, by their names in the mirror. */
  readonly images: ReadonlyMap<string, string>;
  /** Names of images that the plan has and that could not be copied. */
  readonly missing: readonly string[];
  /** Digests of the manifests and other files in an archive, by name; absent for a mirror. */
  readonly files?: ReadonlyMap<string, string>;
}

/** A statement that a trusted key has signed. */
export interface SignedStatement extends StatementName {
  readonly statement: FreshnessStatement;
  /** Who signed it, in words. */
  readonly by: string;
}

/** What a machine has accepted before. */
export interface AcceptedStatements {
  /** When a statement was last accepted. */
  readonly seenAt: Date | undefined;
  /** The newest accepted statement by the name of each index image. */
  readonly indexes: ReadonlyMap<string, StatementName>;
}

/** Signed bytes that are not a statement about a mirror. */
export class InvalidFreshness extends Error {}

/** The statement as JSON, to be signed. */
export function freshnessText(statement: FreshnessStatement): string {
  const { version, madeAt, freshUntil, predecessor, indexes, images, missing, files } = statement;
  return JSON.stringify({
    _type: STATEMENT,
    subject: [...indexes].map(([name, digest]) => ({ name, digest: digestSet(digest) })),
    predicateType: FRESHNESS_PREDICATE,
    predicate: {
      version,
      madeAt: madeAt.toISOString(),
      freshUntil: freshUntil.toISOString(),
      ...(predecessor && { predecessor }),
      images: Object.fromEntries(images),
      ...(missing.length > 0 && { missing }),
      ...(files && { files: Object.fromEntries(files) }),
    },
  });
}

const STATEMENT = 'https://in-toto.io/Statement/v1';

/** A digest in the form of in-toto. */
function digestSet(digest: string): Readonly<Record<string, string>> {
  const [algorithm = '', hex = ''] = digest.split(':');
  return { [algorithm]: hex };
}

/** Reads the text of a statement. @throws InvalidFreshness for anything that {@link freshnessText} does not write */
export function readFreshness(text: string): FreshnessStatement {
  const { _type, subject, predicateType, predicate } = objectIn(text);
  if (_type !== STATEMENT) throw new InvalidFreshness('not an in-toto statement');
  if (predicateType !== FRESHNESS_PREDICATE || !isObject(predicate))
    throw new InvalidFreshness(
      `a statement of type ${JSON.stringify(predicateType)}, not ${FRESHNESS_PREDICATE}`,
    );
  const { version, madeAt, freshUntil, predecessor, images, missing = [], files } = predicate;
  const statement = {
    version: versionOf(version),
    madeAt: timeOf(madeAt),
    freshUntil: timeOf(freshUntil),
    ...(predecessor !== undefined && { predecessor: nameOf(predecessor) }),
    indexes: digestsOf(subjectsOf(subject)),
    images: digestsOf(isObject(images) ? Object.entries(images) : undefined),
    missing: missingOf(missing),
    ...(files !== undefined && { files: filesOf(files) }),
  };
  if (statement.predecessor && statement.predecessor.version >= statement.version)
    throw new InvalidFreshness('its predecessor is not older');
  // Only images are compared with the mirror: an index image outside of them would be signed and never checked.
  for (const [name, digest] of statement.indexes)
    if (statement.images.get(name) !== digest) throw new InvalidFreshness(`${name} is not among its images`);
  return statement;
}

/**
 * The object that a text of JSON is.
 *
 * @throws InvalidFreshness for any other text
 */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw new InvalidFreshness('not valid JSON');
  }
  if (!isObject(json)) throw new InvalidFreshness('not a JSON object');
  return json;
}

/** The names and digests of in-toto's subjects; undefined if there are none. */
function subjectsOf(subject: unknown): [string, unknown][] | undefined {
  if (!Array.isArray(subject) || subject.length === 0) return undefined;
  return subject.map((one) => {
    const { name, digest } = isObject(one) ? one : {};
    // In-toto allows several digests of a subject; statements of ours have one.
    const [[algorithm, hex] = []] = isObject(digest) ? Object.entries(digest) : [];
    return [String(name), `${algorithm}:${hex}`];
  });
}

/**
 * Names of images with their digests.
 *
 * @throws InvalidFreshness for a name or a digest of another form
 */
function digestsOf(entries: readonly [string, unknown][] | undefined): ReadonlyMap<string, string> {
  if (entries === undefined) throw new InvalidFreshness('without images');
  return new Map(
    entries.map(([name, digest]) => {
      if (!isImage(name) || !isDigest(digest))
        throw new InvalidFreshness(`${JSON.stringify(name)} has no valid digest`);
      return [name, digest];
    }),
  );
}

/**
 * Names of files with their digests.
 *
 * @throws InvalidFreshness
 */
function filesOf(files: unknown): ReadonlyMap<string, string> {
  if (!isObject(files)) throw new InvalidFreshness('its files are not a mapping');
  return new Map(
    Object.entries(files).map(([name, digest]) => {
      if (!isDigest(digest))
        throw new InvalidFreshness(`its file ${JSON.stringify(name)} has no valid digest`);
      return [name, digest];
    }),
  );
}

function isImage(name: string): boolean {
  return tryParseReference(name) !== undefined;
}

/** Whether a text is a digest: one that a reference may have. */
function isDigest(value: unknown): value is string {
  return typeof value === 'string' && tryParseReference(`localhost/a@${value}`)?.kind === 'digest';
}

/**
 * The version and digest of a statement.
 *
 * @throws InvalidFreshness
 */
function nameOf(value: unknown): StatementName {
  const { version, digest } = isObject(value) ? value : {};
  if (!isDigest(digest)) throw new InvalidFreshness('its predecessor has no digest');
  return { version: versionOf(version), digest };
}

function versionOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidFreshness('its version is not a number');
}

/** The only form that we write: `Date` would read many others, some of them in local time. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * A time in UTC.
 *
 * @throws InvalidFreshness
 */
function timeOf(value: unknown): Date {
  const time = typeof value === 'string' && TIME.test(value) ? new Date(value) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time;
  throw new InvalidFreshness(`${JSON.stringify(value)} is not a time`);
}

/** The names of images that could not be copied. @throws InvalidFreshness */
function missingOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one): one is string => typeof one === 'string')) return value;
  throw new InvalidFreshness('its missing images are not a list');
}

/** What a statement is compared with. */
interface FreshnessCheck {
  readonly now: Date;
  readonly accepted: AcceptedStatements;
  /** Where the statement was read, for findings. */
  readonly file: string;
  /** Names of all images that the mirror is to have. */
  readonly names: readonly string[];
  /** Index images beside which the statement stands: it must be about each of them. */
  readonly beside?: readonly string[];
  /** Digests of those that were looked up; undefined for an image that is not there. */
  readonly found: ReadonlyMap<string, string | undefined>;
  /** Digests of the manifests and other files in an archive, by name; undefined for a mirror. */
  readonly files?: ReadonlyMap<string, string> | undefined;
}

/** Clocks of machines may differ by so much, in milliseconds. */
const SKEW = 5 * 60 * 1000;

/** What is wrong with the freshness of a mirror: nothing, or one finding for each attack that it looks like. */
export function freshnessFindings(signed: SignedStatement, check: FreshnessCheck): Finding[] {
  // A statement about other images, or an older one, says nothing of what this mirror should have.
  const about = otherStatementFinding(signed, check) ?? rollbackFinding(signed, check);
  if (about) return [about];
  // With a wrong clock, the age is not known.
  const time = clockFinding(signed, check) ?? staleFinding(signed, check);
  return [forkFinding(signed, check), time, mixedFinding(signed, check)].filter((one) => one !== undefined);
}

function finding(rule: string, file: string, { message, hint }: { message: string; hint: string }): Finding {
  return { rule, severity: 'error', message, location: { file, line: 1, column: 1 }, hint };
}

/** A finding if a genuine statement is about other images: somebody put it in the place of another. */
function otherStatementFinding(
  { statement }: SignedStatement,
  { names, beside = [], file }: FreshnessCheck,
): Finding | undefined {
  const ours = new Set(names);
  const indexes = [...statement.indexes.keys()];
  const isOurs = indexes.some((name) => ours.has(name));
  const other = beside.find((name) => !statement.indexes.has(name));
  if (isOurs && other === undefined) return undefined;
  const why = isOurs ? `and not about ${other}` : 'which this mirror does not have';
  return finding('mirror/other-statement', file, {
    message: `the freshness statement is about ${indexes.join(', ')}, ${why}`,
    hint: 'bring the statement of this mirror, or sign again: portolan mirror sync CONFIG --sign-key FILE',
  });
}

/** A finding if the statement is older than one that was accepted here for the same index. */
function rollbackFinding(
  { version, statement }: SignedStatement,
  { accepted, file }: FreshnessCheck,
): Finding | undefined {
  for (const name of statement.indexes.keys()) {
    const before = accepted.indexes.get(name);
    if (before === undefined || before.version <= version) continue;
    return finding('mirror/rollback', file, {
      message: `rollback of ${name}: this is statement ${version} of ${textOf(statement.madeAt)}, but statement ${before.version} was accepted here before`,
      hint: 'load the newest archive, or run mirror sync again; find out who brought the older state',
    });
  }
  return undefined;
}

/**
 * A finding if the statement does not follow the one that was accepted here before: it was signed in another place, or by
 * somebody else who has the key.
 */
function forkFinding(
  { version, digest, statement }: SignedStatement,
  { accepted, file }: FreshnessCheck,
): Finding | undefined {
  const { predecessor } = statement;
  for (const name of statement.indexes.keys()) {
    const before = accepted.indexes.get(name);
    if (before === undefined || before.digest === digest) continue;
    // Another statement of the same version, one that leaves the accepted one out, or one that follows another. Without a
    // predecessor, whoever signs has lost it and starts anew.
    const isSame = before.version === version;
    const skips = predecessor !== undefined && predecessor.version < before.version;
    const isOther = predecessor?.version === before.version && predecessor.digest !== before.digest;
    if (!isSame && !skips && !isOther) continue;
    return finding('mirror/forked', file, {
      message: `statement ${version} about ${name} does not follow statement ${before.version}, which was accepted here before`,
      hint: 'sign from one directory only; if nobody else did, replace the signing key',
    });
  }
  return undefined;
}

/** A finding if this machine's clock is behind the statement or the last check: then no age can be trusted. */
function clockFinding(
  { version, statement }: SignedStatement,
  { accepted: { seenAt }, now, file }: FreshnessCheck,
): Finding | undefined {
  const latest = Math.max(statement.madeAt.getTime(), seenAt?.getTime() ?? 0);
  if (now.getTime() >= latest - SKEW) return undefined;
  const isStatement = latest === statement.madeAt.getTime();
  const what = isStatement ? `statement ${version} is of` : 'the last check here was at';
  return finding('mirror/clock', file, {
    message: `the clock of this machine says ${textOf(now)}, but ${what} ${textOf(new Date(latest))}: it cannot tell whether the mirror is fresh`,
    hint: isStatement
      ? 'correct the clock of this machine, or of the one that signs'
      : 'correct the clock of this machine; if it was ahead at the last check, remove "seenAt" from the file that --remember names (default: ~/.local/state/portolan/freshness.json)',
  });
}

/** A finding if the statement is too old: somebody may hold newer ones back. */
function staleFinding(
  { version, statement }: SignedStatement,
  { now, file }: FreshnessCheck,
): Finding | undefined {
  const { madeAt, freshUntil } = statement;
  if (now <= freshUntil) return undefined;
  return finding('mirror/stale', file, {
    message: `the mirror is stale: statement ${version} of ${textOf(madeAt)} was fresh until ${textOf(freshUntil)}, and it is ${textOf(now)}`,
    hint: 'bring a newer archive, or run mirror sync again; if you did, find out who holds it back',
  });
}

/** A finding if the mirror has other images than the statement says. */
function mixedFinding(
  { statement }: SignedStatement,
  { names, found, file, files }: FreshnessCheck,
): Finding | undefined {
  const { images, missing } = statement;
  const differing = [...images].flatMap(([name, digest]) => {
    if (!found.has(name) || found.get(name) === digest) return [];
    return [`${name} is ${found.get(name) ?? 'missing'}, not ${digest}`];
  });
  const known = new Set([...images.keys(), ...missing]);
  const unnamed = names.filter((name) => !known.has(name)).map((name) => `${name} is not in the statement`);
  const wanted = new Set(names);
  const unplanned = [...images.keys()]
    .filter((name) => !wanted.has(name))
    .map((name) => `${name} is not in the mapping`);
  // Nobody vouches for what came after the signature.
  const unsigned = missing
    .filter((name) => found.get(name) !== undefined)
    .map((name) => `${name} is there, but the statement says that it is missing`);
  const changed = files ? changedFiles(files, statement.files ?? new Map()) : [];
  const differences = [...differing, ...unnamed, ...unplanned, ...unsigned, ...changed];
  if (differences.length === 0) return undefined;
  const more = differences.length > 1 ? ` (and ${differences.length - 1} more)` : '';
  return finding('mirror/mixed', file, {
    message: `the mirror mixes two states: ${differences[0]}${more}`,
    hint: 'load the whole archive of the newest statement, or run mirror sync again',
  });
}

/** What differs between the files of an archive and those of its statement, in words. */
function changedFiles(files: ReadonlyMap<string, string>, signed: ReadonlyMap<string, string>): string[] {
  return [...new Set([...files.keys(), ...signed.keys()])].flatMap((name) => {
    const [is, was] = [files.get(name), signed.get(name)];
    return is === was ? [] : [`${name} is ${is ?? 'missing'}, not ${was ?? 'in the statement'}`];
  });
}

/**
 * Whether a statement may take the place of what was accepted before. One that is only stale or mixed may: it is genuine and
 * not older, and what is wrong is the mirror.
 */
export function isAcceptable(findings: readonly Finding[]): boolean {
  return findings.every(({ rule }) => rule === 'mirror/stale' || rule === 'mirror/mixed');
}

/** The accepted statements, with this one added. A newer one that another command has accepted meanwhile stays. */
export function acceptedWith(
  { version, digest, statement }: SignedStatement,
  { indexes, seenAt }: AcceptedStatements,
  now: Date,
): AcceptedStatements {
  const ours = [...statement.indexes.keys()].flatMap((name) =>
    (indexes.get(name)?.version ?? 0) > version ? [] : [[name, { version, digest }] as const],
  );
  // The time never goes back: `clockFinding` compares a clock that somebody sets back with it.
  const latest = seenAt && seenAt > now ? seenAt : now;
  return { seenAt: latest, indexes: new Map([...indexes, ...ours]) };
}

/** A time in UTC, to the second. */
export function textOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

const FORMAT = 'dev.portolan.accepted/v1';

export function acceptedText({ seenAt, indexes }: AcceptedStatements): string {
  const json = { format: FORMAT, seenAt: seenAt?.toISOString(), indexes: Object.fromEntries(indexes) };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Reads the file of accepted statements. @throws InvalidFreshness: what was accepted must not be forgotten */
export function readAccepted(text: string): AcceptedStatements {
  const { format, seenAt, indexes } = objectIn(text);
  if (format !== FORMAT || !isObject(indexes))
    throw new InvalidFreshness('not a list of accepted statements');
  return {
    seenAt: seenAt === undefined ? undefined : timeOf(seenAt),
    indexes: new Map(Object.entries(indexes).map(([name, value]) => [name, nameOf(value)])),
  };
}
