/** The freshness statement in an archive that `mirror copy --from-archive` loads. */
import { join, resolve } from 'node:path';
import type { Finding } from '../../../catalog/finding.ts';
import {
  type FreshnessStatement,
  InvalidFreshness,
  textOf,
} from '../../../catalog/mirror/freshness/freshness.ts';
import { formatReference, type Reference } from '../../../catalog/reference.ts';
import type { CopyJob } from '../../mirror/copy-jobs.ts';
import {
  type FoundStatement,
  FRESHNESS,
  putStatement,
  statedBy,
  statementBeside,
  statementIn,
  trustedStatement,
} from '../../mirror/freshness.ts';
import { digestOf } from '../../oci/digest.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Invocation } from '../command.ts';
import { checkFreshness, checksFreshness, digestsIn, keysOf, namesOf, uncheckedNote } from './freshness.ts';

/** A statement that came in an archive. */
interface CarriedStatement {
  /** Whether the check that `--key` asks for found something, or the mirror has a newer state: nothing may be loaded. */
  readonly isRefused: boolean;
  /** Puts it into the mirror, once everything else is there. */
  readonly put: () => Promise<void>;
}

/**
 * The statement in the last archive, checked if there is a key. Without one it comes along, for `mirror verify`. With and
 * without, it does not take the place of a newer one.
 *
 * @param from the archives
 * @param files of the plan in the last one
 * @param mirror where they are loaded
 */
export async function carriedStatement(
  jobs: readonly CopyJob[],
  {
    from,
    files,
    mirror,
    invocation,
    terminal,
  }: {
    readonly from: Registry;
    readonly files: ReadonlyMap<string, Uint8Array>;
    readonly mirror: Registry;
    readonly invocation: Invocation;
    readonly terminal: Terminal;
  },
): Promise<CarriedStatement> {
  const archive = resolve(terminal.directory, invocation.list('from-archive').at(-1) ?? '');
  const found = statementIn(archive);
  const checked = checksFreshness(invocation)
    ? await checkFreshness(
        {
          found,
          expected: join(archive, FRESHNESS),
          names: namesOf(jobs),
          digestsOf: (names) => digestsIn(from, names),
          files: new Map([...files].map(([name, bytes]) => [name, digestOf(bytes)])),
        },
        { invocation, terminal },
      )
    : undefined;
  if (found && !checked) terminal.err(uncheckedNote(found));
  const stated = found && statedBy(found);
  // The index images that are loaded and that the statement is about: it is put beside each of them.
  const about = jobs.map(({ to }) => to).filter((to) => stated?.indexes.has(formatReference(to)));
  const findings = [...(checked?.findings ?? [])];
  if (found && stated && findings.length === 0 && !invocation.flag('allow-older')) {
    const keys = checked && keysOf(invocation, terminal);
    const newer = await newerInMirror(stated, about, { mirror, keys });
    if (newer) findings.push(olderArchive(found, stated, newer));
  }
  for (const finding of findings) terminal.err(findingText(finding));
  return {
    isRefused: findings.length > 0,
    put: async () => {
      if (found) for (const index of about) await putStatement(index, found.bytes, mirror);
    },
  };
}

interface NewerStatement {
  /** The place in the mirror that has it, for messages. */
  readonly where: string;
  readonly statement: FreshnessStatement;
}

/**
 * A statement in the mirror that is newer than that of the archive. With keys, those that none of them has signed do not
 * count; without, all do: a forged one stops the load, and the message says where it is.
 *
 * @param indexes the index images that the archive's statement is about
 */
async function newerInMirror(
  { version }: FreshnessStatement,
  indexes: readonly Reference[],
  { mirror, keys }: { readonly mirror: Registry; readonly keys: readonly string[] | undefined },
): Promise<NewerStatement | undefined> {
  for (const index of indexes) {
    const there = await statementBeside(index, mirror);
    const statement = there && (keys ? await signedByAny(there, keys) : statedBy(there));
    if (there && statement && statement.version > version) return { where: there.where, statement };
  }
  return undefined;
}

/** A statement that one of the keys has signed; undefined for any other. */
async function signedByAny(
  found: FoundStatement,
  keys: readonly string[],
): Promise<FreshnessStatement | undefined> {
  try {
    return (await trustedStatement(found, { kind: 'keys', keys })).statement;
  } catch (error) {
    if (error instanceof InvalidFreshness) return undefined;
    throw error;
  }
}

/** The finding about an archive that is older than the mirror. */
function olderArchive(
  { where: file }: FoundStatement,
  { version, madeAt }: FreshnessStatement,
  { where: newerPlace, statement: newer }: NewerStatement,
): Finding {
  return {
    rule: 'mirror/rollback',
    severity: 'error',
    message: `the archive is older than the mirror: it has statement ${version} of ${textOf(madeAt)}, but ${newerPlace} has statement ${newer.version} of ${textOf(newer.madeAt)}`,
    location: { file, line: 1, column: 1 },
    hint: 'load the newest archive; to replace the newer state on purpose, add --allow-older',
  };
}
