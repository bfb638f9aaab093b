/** Checking how fresh a mirror or an archive is: `mirror verify` and `mirror copy --from-archive` with `--key`. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Finding } from '../../../catalog/finding.ts';
import {
  type AcceptedStatements,
  acceptedWith,
  freshnessFindings,
  InvalidFreshness,
  isAcceptable,
  type SignedStatement,
  textOf,
} from '../../../catalog/mirror/freshness/freshness.ts';
import { type PlannedIndex, readReport } from '../../../catalog/mirror/report.ts';
import { formatReference, parseReference } from '../../../catalog/reference.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { CopyJob } from '../../mirror/copy-jobs.ts';
import { acceptedIn, type FoundStatement, trustedStatement, writeAccepted } from '../../mirror/freshness.ts';
import { eachOf } from '../../parallel.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import type { Invocation } from '../command.ts';

export const CHECKING_OPTIONS = {
  key: {
    value: 'FILE',
    description: 'check the freshness statement: public key (PEM) that must have signed it; any of several',
    multiple: true,
  },
  remember: {
    value: 'FILE',
    description:
      'file with the accepted statements, to find rollbacks (default: portolan/freshness.json in XDG_STATE_HOME or ~/.local/state)',
  },
} as const;

/** The index images of the plan that a mapping belongs to. @throws PipelineError `usage` */
export function plannedIndexes(mapping: string): readonly PlannedIndex[] {
  const indexes = indexesBeside(mapping);
  if (indexes.length > 0) return indexes;
  throw new PipelineError('usage', `${reportBeside(mapping)} does not name the index images of the mapping`, {
    hint: 'mirror plan and mirror sync write it beside mapping.txt: keep both together',
  });
}

/** The catalogs that the mirror report beside a mapping names; none if there is no report. */
export function indexesBeside(mapping: string): readonly PlannedIndex[] {
  const file = reportBeside(mapping);
  return (existsSync(file) ? readReport(readText(file))?.catalogs : undefined) ?? [];
}

/** The path of the report that belongs to a mapping. */
function reportBeside(mapping: string): string {
  return join(dirname(mapping), 'report.json');
}

/** What is said where a statement is at hand and nobody named its key. */
export function uncheckedNote({ where }: FoundStatement): string {
  return `${where} is not checked: pass the public key with --key\n`;
}

/** The names of images in the mirror. */
export function namesOf(jobs: readonly Pick<CopyJob, 'to'>[]): string[] {
  return jobs.map(({ to }) => formatReference(to));
}

/** Requests at a time: as many as a client sends to one host by default. */
const PARALLEL = 48;

/** The digests of images; undefined for one that is not there. @throws PipelineError what a registry answers */
export async function digestsIn(
  registry: Pick<Registry, 'resolve'>,
  names: Iterable<string>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const digests = new Map<string, string | undefined>();
  // `eachOf` must not fail in the midst: the first error is thrown at its end.
  const errors: unknown[] = [];
  await eachOf([...names], PARALLEL, async (name) => {
    try {
      digests.set(name, (await registry.resolve(parseReference(name)))?.digest);
    } catch (error) {
      errors.push(error);
    }
  });
  if (errors.length > 0) throw errors[0];
  return digests;
}

/** What is checked. */
export interface CheckedState {
  /** Undefined where there is none. */
  readonly found: FoundStatement | undefined;
  /** Where a statement was expected, for messages. */
  readonly expected: string;
  /** Names of all images of the mapping. */
  readonly names: readonly string[];
  /** Names of the index images beside which it was found; undefined where it stands beside none. */
  readonly beside?: readonly string[];
  /** Digests of images that the mirror or archive has, or is to have where nothing is looked up. */
  readonly digestsOf: (names: Iterable<string>) => Promise<ReadonlyMap<string, string | undefined>>;
  /** Whether `digestsOf` reads only the plan: it has a digest for images that could not be copied as well. */
  readonly isOffline?: boolean;
  /** Digests of the files of an archive's plan, by name; undefined for a mirror. */
  readonly files?: ReadonlyMap<string, string>;
}

/** What came of it. */
export interface FreshnessReport {
  /** Absent where no statement has a trusted signature. */
  readonly statement?: {
    readonly version: number;
    readonly madeAt: string;
    readonly freshUntil: string;
    readonly by: string;
  };
  readonly findings: readonly Finding[];
}

/** Whether `--key` asks for a check. */
export function checksFreshness({ list }: Invocation): boolean {
  return list('key').length > 0;
}

/** The public keys of the command line, in PEM. @throws PipelineError `not-found` */
export function keysOf({ list }: Invocation, { directory }: Pick<Terminal, 'directory'>): string[] {
  return list('key').map((file) => readText(resolve(directory, file)));
}

/**
 * Checks a statement with the keys of the command line, and remembers it if it may take the place of the last one.
 *
 * @throws PipelineError `usage`, `not-found`, and what looking up digests throws
 */
export async function checkFreshness(
  state: CheckedState,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<FreshnessReport> {
  const keys = keysOf(invocation, terminal);
  const memory = memoryFile(invocation, terminal);
  const { found, expected, names, beside = [] } = state;
  if (!found) return { findings: [unsignedFinding(expected)] };
  let signed: SignedStatement;
  try {
    signed = await trustedStatement(found, { kind: 'keys', keys });
  } catch (error) {
    if (error instanceof InvalidFreshness) return { findings: [foreignFinding(found, error)] };
    throw error;
  }
  const accepted = acceptedIn(memory);
  const now = terminal.now();
  const digests = await state.digestsOf(namesToCompare(signed, state));
  const findings = freshnessFindings(signed, {
    now,
    accepted,
    file: found.where,
    names,
    beside,
    found: digests,
    files: state.files,
  });
  if (isAcceptable(findings)) {
    noteFirst(signed, accepted, { memory, terminal });
    // Read again: another command may have accepted something meanwhile.
    writeAccepted(memory, acceptedWith(signed, acceptedIn(memory), now));
  }
  const { version, by, statement } = signed;
  const [madeAt, freshUntil] = [textOf(statement.madeAt), textOf(statement.freshUntil)];
  return { statement: { version, madeAt, freshUntil, by }, findings };
}

/**
 * The images whose digests are compared with a statement: those that it has and, online, those that it calls missing,
 * because none of them may be there. A plan cannot tell that. Images of other mirrors are left out: a statement about
 * another mirror must not lead to its registry.
 */
function namesToCompare({ statement }: SignedStatement, { names, isOffline }: CheckedState): string[] {
  const { images, missing } = statement;
  const stated = new Set([...images.keys(), ...(isOffline ? [] : missing)]);
  return names.filter((name) => stated.has(name));
}

/** Says for which index images no statement was accepted before: for these, an earlier rollback cannot be found. */
function noteFirst(
  { statement }: SignedStatement,
  { indexes }: AcceptedStatements,
  { memory, terminal }: { readonly memory: string; readonly terminal: Terminal },
): void {
  const first = [...statement.indexes.keys()].filter((name) => !indexes.has(name));
  if (first.length > 0)
    terminal.err(
      `first statement about ${plainText(first.join(', '))} accepted here: rollbacks are found from now on (${memory})\n`,
    );
}

/**
 * The file with the accepted statements: that of `--remember`, or one in the user's folder for states.
 *
 * @throws PipelineError `usage`
 */
function memoryFile({ text }: Invocation, { directory, environment }: Terminal): string {
  const named = text('remember');
  if (named !== undefined) return resolve(directory, named);
  const { XDG_STATE_HOME: state, HOME: home } = environment;
  const folder = state ?? (home === undefined ? undefined : join(home, '.local', 'state'));
  if (folder !== undefined) return join(folder, 'portolan', 'freshness.json');
  throw new PipelineError('usage', 'no place for the accepted statements: HOME is not set', {
    hint: 'name a file that stays: --remember FILE',
  });
}

/** The finding for a mirror without a statement. */
function unsignedFinding(expected: string): Finding {
  return {
    rule: 'mirror/unsigned',
    severity: 'error',
    message: `there is no freshness statement at ${expected}`,
    location: { file: expected, line: 1, column: 1 },
    hint: 'if it was signed, find out who deleted it; otherwise sign it: portolan mirror sync CONFIG --sign-key FILE',
  };
}

/** The finding for a statement that no given key has signed. */
function foreignFinding({ where }: FoundStatement, { message }: InvalidFreshness): Finding {
  return {
    rule: 'mirror/foreign-signature',
    severity: 'error',
    message: `the freshness statement at ${where} does not count: ${message}`,
    location: { file: where, line: 1, column: 1 },
    hint: 'pass the public key of the one that signs the mirror with --key; while keys change, both of them',
  };
}

/** `Fresh: statement 1767225600 of 2026-01-01T00:00:00Z, valid until …, signed by key 1`; none if anything is wrong. */
export function freshnessLines({ statement, findings }: FreshnessReport): string[] {
  if (!statement || findings.length > 0) return [];
  const { version, madeAt, freshUntil, by } = statement;
  return [`Fresh: statement ${version} of ${madeAt}, valid until ${freshUntil}, signed by ${by}`];
}
