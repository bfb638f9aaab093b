import { lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { parseJson } from '../../../catalog/json.ts';
import { formatLock, InvalidLock, type ReferenceLock, readLock } from '../../../catalog/references/lock.ts';
import type { Lookup } from '../../../catalog/references/lookup.ts';
import {
  pinFile,
  pinsByFile,
  type Resolution,
  resolveReferences,
} from '../../catalogs/references/resolve.ts';
import { directorySource, fileError, readFileBytes, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { type PolicyRead, readPolicy } from '../../policy/read-policy.ts';
import { attestationDemands, repositoryMatcher, signatureDemands } from '../../policy/registries.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { amountText, countText, findingText, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Command, Invocation } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, type PlannedEdit, showEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'resolve',
  operands: 'DIR',
  options: {
    lock: {
      value: 'FILE',
      description: 'lock file with the digest of each tag; new tags are added, moved tags are reported',
    },
    write: { description: 'replace tags with digests in the files, and keep each tag as a comment' },
    update: { description: 'update the lock file and the pinned digests to the current digests of the tags' },
    digests: { description: 'also check that images referenced by digest exist' },
    platforms: {
      description:
        'check that images support the architectures in the labels of their package (operatorframework.io/arch.*)',
    },
    policy: { value: 'FILE', description: 'policy file; contact only the registries that it allows' },
    json: { description: 'print the result as JSON' },
    ...ACCEPT_OPTION,
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Reads the file-based catalogs, templates (basic, semver), composites and bundle directories below DIR. For a',
    'multi-platform image, the digest is that of the manifest list. If a tag does not exist or a registry does not respond,',
    'nothing is written.',
    '',
    EFFECT_DETAILS,
  ].join('\n'),
  examples: [
    'portolan resolve catalogs/v4.20',
    'portolan resolve catalogs/v4.20 --lock catalogs/v4.20.lock.json --write',
  ],
  run: async (invocation, terminal) => {
    const root = resolve(terminal.directory, invocation.operands[0] ?? '.');
    const policy = policyOf(invocation, terminal);
    if (policy && !policy.policy) {
      for (const finding of policy.findings) terminal.err(findingText(finding));
      return 2;
    }
    const lockFile = invocation.text('lock');
    const lockPath = lockFile === undefined ? undefined : resolve(terminal.directory, lockFile);
    return withRegistryClient(invocation, terminal, { policy: policy?.policy }, async (client) => {
      const resolution = await resolveReferences([directorySource(root)], {
        registry: client,
        lock: lockPath === undefined ? undefined : lockAt(lockPath),
        digests: invocation.flag('digests'),
        platforms: invocation.flag('platforms'),
        update: invocation.flag('update'),
        ...(policy?.policy
          ? {
              allows: repositoryMatcher(policy.policy.registries.allow),
              severityOf: severitiesOf(policy.policy),
              signed: signatureDemands(policy.policy),
              attested: attestationDemands(policy.policy),
            }
          : {}),
      });
      const exit = exitOf(resolution);
      const pinned = invocation.flag('write') && exit === 0 ? pinAll(root, resolution) : undefined;
      const edit = pinned && pinnedEdit(root, resolution, pinned.files);
      if (edit && edit.files.size > 0 && !(await showEffect(edit, { invocation, terminal }))) return 1;
      const outcome = writeOutcome(resolution, { root, lockPath, pinned });
      if (invocation.flag('json')) await terminal.out(jsonOf(outcome));
      else await printText(outcome, terminal);
      return outcome.exit;
    });
  },
};

/** The policy of `--policy`: which registries may be asked, and what is demanded of images. Undefined without one. */
function policyOf(invocation: Invocation, { directory }: Terminal): PolicyRead | undefined {
  const file = invocation.text('policy');
  return file === undefined ? undefined : readPolicy(readFileBytes(resolve(directory, file)));
}

/** The lock in a file; none when there is no such file yet. */
function lockAt(path: string): ReferenceLock | undefined {
  try {
    return readLock(readText(path));
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'not-found') return undefined;
    if (!(error instanceof InvalidLock)) throw error;
    throw new PipelineError('usage', `${path} is not a valid lock file: ${error.message}`, {
      cause: error,
      hint: 'restore it from the git history, or delete it to create a new one',
    });
  }
}

interface Target {
  readonly root: string;
  readonly lockPath: string | undefined;
  /** What is to be written into the files; undefined where only the lock is. */
  readonly pinned: Pinned | undefined;
}

interface Outcome {
  readonly resolution: Resolution;
  readonly findings: readonly Finding[];
  readonly exit: ExitCode;
  /** Files that were changed, as paths below the root; the lock as it was named. */
  readonly written: readonly string[];
}

/** What a registry did not answer counts first: nobody knows whether it is wrong. */
function exitOf({ findings, unanswered }: Resolution): ExitCode {
  if (unanswered.length > 0) return 2;
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** Writes the lock and the pinned files, or nothing: half of them would pass for the whole. */
function writeOutcome(resolution: Resolution, { root, lockPath, pinned }: Target): Outcome {
  const exit = exitOf(resolution);
  if (exit !== 0) return { resolution, findings: resolution.findings, exit, written: [] };
  const pins = pinned ? writeFiles(root, pinned.files).written : [];
  const lockFiles = lockPath === undefined ? [] : writeLock(lockPath, resolution.lock);
  // What was pinned is not a tag any more.
  const kept = pinned
    ? resolution.findings.filter(({ rule }) => rule !== 'image/digest')
    : resolution.findings;
  const findings = [...kept, ...(pinned?.findings ?? [])].sort(compareFindings);
  return { resolution, findings, exit, written: [...pins, ...lockFiles] };
}

/** Writes the lock file. @returns its name if it changed */
function writeLock(path: string, lock: ReferenceLock): readonly string[] {
  return writeFiles(dirname(path), new Map([[basename(path), formatLock(lock)]])).written;
}

interface Pinned {
  readonly findings: readonly Finding[];
  /** Texts of the files with pins, by path below the root. */
  readonly files: ReadonlyMap<string, string>;
}

/** The files with their pins, not written yet. @throws PipelineError `usage` for a file behind a link */
function pinAll(root: string, { resolved, lock }: Resolution): Pinned {
  const findings: Finding[] = [];
  const files = new Map<string, string>();
  for (const [file, pins] of pinsByFile(resolved, lock)) {
    refuseLink(join(root, file));
    const pinned = pinFile(file, readText(join(root, file)), pins);
    for (const finding of pinned.findings) findings.push(finding);
    files.set(file, pinned.text);
  }
  return { findings, files };
}

/** The pins as an edit of the catalogs below the root: its effect takes a digest for the tag that it replaces. */
function pinnedEdit(root: string, { lock }: Resolution, files: Pinned['files']): PlannedEdit {
  const digests = new Map([...lock.digests].map(([tag, digest]) => [tag, new Set([digest])]));
  return { root, files, digests };
}

/** A link leads to a file that may belong to somebody else; it would also be replaced by a file. @throws PipelineError `usage` */
function refuseLink(path: string): void {
  try {
    if (!lstatSync(path).isSymbolicLink()) return;
  } catch (error) {
    throw fileError(error, path);
  }
  throw new PipelineError('usage', `${path} is a symbolic link: nothing was written`, {
    hint: 'run the command on the folder that contains the file itself',
  });
}

/** The result as JSON, for programs. */
function jsonOf({ resolution, findings, exit, written }: Outcome): string {
  const { resolved, lock, unanswered } = resolution;
  const lookups = [...resolved.lookups].map(([reference, lookup]) => ({ reference, ...lookup }));
  const verdict = (['pass', 'fail', 'inconclusive'] as const)[exit];
  const document = { verdict, lookups, lock: parseJson(formatLock(lock)), findings, unanswered, written };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Prints findings, what could not be resolved, and the verdict. */
async function printText(
  { resolution, findings, exit, written }: Outcome,
  terminal: Terminal,
): Promise<void> {
  const { resolved, unanswered } = resolution;
  await terminal.out(findings.map(findingText).join(''));
  for (const { registry, why, hint, references } of unanswered) {
    const more =
      references === 1
        ? ''
        : ` (and ${amountText(references - 1, 'more reference')} to ${plainText(registry)})`;
    terminal.err(`portolan: ${plainText(why)}${more}\n`);
    if (hint !== undefined) terminal.err(`  ${plainText(hint)}\n`);
  }
  for (const file of written) terminal.err(`wrote ${plainText(file)}\n`);
  const count = (kind: Lookup['kind']): number =>
    [...resolved.lookups.values()].filter((lookup) => lookup.kind === kind).length;
  const verdict = ['PASS', 'FAIL', 'INCONCLUSIVE'][exit];
  terminal.err(
    `${verdict}: resolved ${count('found')} of ${amountText(resolved.lookups.size, 'reference')} (used in ${amountText(resolved.sites.length, 'place')}), ${countText(findings)}\n`,
  );
}
