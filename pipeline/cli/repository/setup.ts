import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { failedPresets } from '../../check/rehearsal/preset-trial.ts';
import { type RehearsalRequest, rehearseMerges } from '../../check/rehearsal/rehearsal.ts';
import { timeLimit } from '../../check/rehearsal/time-limit.ts';
import { fileError, replaceLink } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readRegular } from '../../file-pieces.ts';
import { type GitSettings, runGit } from '../../git/process.ts';
import { type Repository, withRepository, workTreeOf } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import { formatIdentity, parseIdentity } from '../../policy/identity.ts';
import { PRESETS } from '../../policy/presets/presets.ts';
import { POLICY_PATH, readPolicy } from '../../policy/read-policy.ts';
import { TRIGGERS, type Trigger } from '../../policy/setup/adapt.ts';
import { fetchFilesCommand } from '../../policy/setup/layout-errors.ts';
import { OWNERS_PATH } from '../../policy/setup/people.ts';
import {
  type OpenQuestions,
  type PresetTrial,
  type Setup,
  setUpRepository,
} from '../../policy/setup/setup.ts';
import { optimizeLater } from '../../processes.ts';
import { rehearsalSummary } from '../../report/rehearsal-text.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { amountText, linesText, plainText, shortList } from '../../text.ts';
import { type Command, type Invocation, numberOption, usageError } from '../command.ts';
import { adminsOption } from '../formed-option.ts';
import { progressLine } from '../progress-line.ts';
import { askAll } from './setup-questions.ts';

/** What is left to do when the files are written. */
const NEXT = [
  'next: commit these files. Portolan reports, and blocks nothing',
  '  when you agree with its reports, remove enforce: off from the policy and make the status portolan required on your branch',
  '',
].join('\n');

const NO_CATALOGS =
  'none found, so the policy uses the default layout, catalogs/CATALOG/PACKAGE/; if they are elsewhere, write layout: {catalog: [PATTERN]}';

const NAME_CATALOG = 'If a pipeline generates a catalog from them, name it: bundleCatalogs: {names: [v4.20]}';

/** How many past merges are checked with the policy if nobody says it. */
const MERGES = 20;
/** With many catalogs a merge takes long: catalogs of all merges together, and the fewest merges. */
const MOST_CATALOGS = 240;
const FEWEST_MERGES = 3;
/** How long they are checked, in s. */
const SECONDS = 60;

export const command: Command = {
  words: 'setup',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'path of the work tree (default: current directory)' },
    commit: { value: 'COMMIT', description: 'commit whose layout is examined (default: HEAD)' },
    admin: {
      value: 'LOGIN',
      description: 'accounts that may change everything, comma-separated: LOGIN, LOGIN#ID or @ORG/TEAM',
    },
    action: {
      value: 'REPO@COMMIT',
      description: 'action that the workflows use instead of portolan/portolan',
    },
    trigger: {
      value: 'EVENT',
      description: 'what starts the check: pull_request_target (default) or workflow_run',
    },
    last: {
      value: 'N',
      description: `number of past merges to check with the policy; 0 checks none (default: ${MERGES}, fewer with many catalogs)`,
    },
    'dry-run': { description: 'print the files without writing them' },
  },
  details: [
    'Existing files are not changed. On a terminal, setup asks what the files do not say: admins, owners of packages, the order of',
    'catalogs. Then it checks the last merges with the policy, as portolan rehearse does.',
  ].join('\n'),
  examples: [
    'portolan setup --admin alice,@my-org/catalog-admins',
    'portolan setup --repo ../catalogs --dry-run',
  ],
  run: async (invocation, terminal) => {
    const named = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const directory = await workTreeOf(named, searchPath(terminal));
    const asked = numberOption(command, invocation, 'last');
    if (asked !== undefined && asked < 0) throw usageError(command, `--last must be 0 or more, not ${asked}`);
    const admins = adminsOption(command, invocation);
    return withRepository(directory, searchPath(terminal), async (repository) => {
      const request = {
        commit: invocation.text('commit') ?? 'HEAD',
        admins,
        action: invocation.text('action'),
        trigger: triggerOf(invocation),
        branch: await defaultBranch(directory, searchPath(terminal)),
        decide:
          terminal.interactive && !existsSync(join(directory, POLICY_PATH))
            ? (open: OpenQuestions) => askAll(open, terminal.ask)
            : undefined,
      };
      const tryPresets: PresetTrial = (text, presets) => {
        const policy = { path: POLICY_PATH, bytes: Buffer.from(text) };
        return failedPresets(repository, { head: request.commit, policy, presets });
      };
      const made = await setUpRepository(repository, { ...request, tryPresets });
      const { found, files, kept } = made;
      // What nobody has committed yet is there as well.
      const fresh = [...files].filter(([path]) => !existsSync(join(directory, path)));
      for (const [path] of fresh) refuseLinks(directory, path);
      for (const [path, text] of fresh) {
        if (invocation.flag('dry-run')) await terminal.out(`--- ${path}\n${text}`);
        else write(join(directory, path), text);
      }
      const policy = await policyIn(repository, { directory, made, commit: request.commit });
      const there = [...files.keys()].filter((path) => !fresh.some(([one]) => one === path));
      const lines = [
        ...defectLines(made),
        `catalogs: ${found.patterns.map((one) => (typeof one === 'string' ? one : one.path)).join(', ') || NO_CATALOGS}`,
        ...fresh.map(([path]) => `${invocation.flag('dry-run') ? 'would write' : 'wrote'} ${path}`),
        ...[...kept, ...there].map((path) => `kept ${path}, which already exists`),
        ...missingLines(made),
        ...leftOutLines(made),
        ...linkLines(made),
        ...presetLines(made),
        ...ownersLines(made),
        ...bundleLines(made),
        ...adminLines(policy, admins),
      ];
      await terminal.out(linesText(lines));
      // Without catalogs, the division gives infinity: MERGES is the limit then.
      const affordable = Math.floor(MOST_CATALOGS / found.catalogs.length);
      const last = asked ?? Math.max(FEWEST_MERGES, Math.min(MERGES, affordable));
      const limit = timeLimit(SECONDS, () => +terminal.now());
      if (policy && last > 0) {
        const past = { head: request.commit, count: last, policy, limit };
        const proof = await pastMerges(repository, past, terminal);
        await terminal.out(linesText(proof));
      }
      if (fresh.length > 0 && !invocation.flag('dry-run')) await terminal.out(NEXT);
      return limit.left > 0 ? 2 : 0;
    });
  },
};

/** The policy that the repository has: the file in the work tree, else the one that setup makes, else that of the commit. */
async function policyIn(
  { objects, resolve: find }: Repository,
  { directory, made, commit }: { readonly directory: string; readonly made: Setup; readonly commit: string },
): Promise<RehearsalRequest['policy'] | undefined> {
  const file = join(directory, POLICY_PATH);
  if (existsSync(file)) return { path: POLICY_PATH, bytes: readRegular(file) };
  const text = made.files.get(POLICY_PATH);
  if (text !== undefined) return { path: POLICY_PATH, bytes: Buffer.from(text) };
  const [id = ''] = await find([commit]);
  const entry = await entryAt(objects, id, POLICY_PATH);
  return entry && { path: POLICY_PATH, bytes: (await objects.read(entry.id)).bytes };
}

/** Who the admins of a policy are, and whether those that were asked for are among them; nothing if it cannot be read. */
function adminLines(file: RehearsalRequest['policy'] | undefined, asked: readonly string[]): string[] {
  const { policy } = readPolicy(file?.bytes);
  if (!policy) return [];
  const admins = policy.owners.admins.map(formatIdentity);
  const absent = asked.filter((login) => !admins.includes(asPolicyWrites(login)));
  return [
    ...(absent.length > 0
      ? [
          `not in ${POLICY_PATH}: ${absent.join(', ')}; setup changes no existing file, so add them to owners.admins`,
        ]
      : []),
    ...(admins.length === 0 && absent.length === 0
      ? ['add admins to the policy: without them, nobody can approve a new package']
      : []),
    ...(policy.owners.admins.length === 1 && policy.owners.admins[0]?.kind === 'account'
      ? [
          `${admins[0]} is the only admin, and may change the gate alone; once you add a second admin to owners.admins, such changes need both`,
        ]
      : []),
  ];
}

/** An identity as the policy's are compared: in the one form for its kind; a text that is not one stays. */
function asPolicyWrites(text: string): string {
  const identity = parseIdentity(text);
  return identity ? formatIdentity(identity) : text;
}

/** What the last merges would have met under this policy, as lines of text. */
async function pastMerges(
  repository: Repository,
  request: Omit<RehearsalRequest, 'progress'>,
  terminal: Terminal,
): Promise<string[]> {
  const { tell, clear } = progressLine(terminal);
  optimizeLater();
  try {
    const progress = ({ done, merges }: { readonly done: number; readonly merges: number }) =>
      tell(() => `${done} of ${merges} past merges checked`);
    return rehearsalSummary(await rehearseMerges(repository, { ...request, progress }));
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return [`past merges: could not be checked: ${error.message}`];
  } finally {
    clear();
  }
}

/** The trigger of `--trigger`, if it is given. @throws PipelineError `usage` */
function triggerOf(invocation: Invocation): Trigger | undefined {
  const text = invocation.text('trigger');
  const trigger = TRIGGERS.find((one) => one === text);
  if (text !== undefined && !trigger)
    throw usageError(command, `--trigger must be ${TRIGGERS.join(' or ')}, not ${JSON.stringify(text)}`);
  return trigger;
}

/** The branch that the remote names as its default, or else the one that is checked out. */
async function defaultBranch(directory: string, settings: GitSettings): Promise<string | undefined> {
  for (const name of ['refs/remotes/origin/HEAD', 'HEAD']) {
    // 1: the ref is not symbolic, as with a detached HEAD; 128: git fails, as without the ref.
    const { code, output } = await runGit({ settings, directory, accept: [0, 1, 128] }, [
      'symbolic-ref',
      '--quiet',
      '--short',
      name,
    ]);
    const branch = output
      .toString('utf8')
      .trim()
      .replace(/^origin\//, '');
    if (code === 0 && branch !== '') return branch;
  }
  return undefined;
}

/** What is wrong with the commit itself: it comes first, because every change of these files fails. */
function defectLines({ defects }: Setup): string[] {
  if (defects.length === 0) return [];
  const more = defects.length > NAMED ? [`  and ${defects.length - NAMED} more`] : [];
  return [
    'the commit fails validation, whatever the policy says:',
    ...defects.slice(0, NAMED).map((one) => `  ${one}`),
    ...more,
  ];
}

/** Files with blobs that the policy takes for no catalog. */
function leftOutLines({ leftOut }: Setup): string[] {
  if (leftOut.length === 0) return [];
  const more = leftOut.length > NAMED ? [`  and ${leftOut.length - NAMED} more`] : [];
  return [
    `not catalogs, and not checked: ${amountText(leftOut.length, 'file')} with catalog blobs`,
    ...leftOut.slice(0, NAMED).map(({ path, reason }) => `  ${path}: ${reason}`),
    ...more,
  ];
}

/** Gates of others that the policy checks for as well. */
function presetLines({ presets, failedPresets, files }: Setup): string[] {
  // A policy that is there already stays as it is.
  if (!files.has(POLICY_PATH)) return [];
  return [
    ...presets.map((name) => `preset ${name}: the policy has the checks of ${PRESETS[name].gate} as well`),
    ...[...failedPresets].map(
      ([name, { rule, message }]) =>
        `preset ${name}: not in the policy, because the latest merges fail it: ${plainText(message)} (${rule})`,
    ),
  ];
}

/** Links that clusters may get as catalogs of their own; the files that they lead to are checked. */
function linkLines({ links }: Setup): string[] {
  if (links.length === 0) return [];
  const named = links.slice(0, NAMED).map(({ path, target }) => `${path} -> ${target}`);
  const more = links.length > NAMED ? ` and ${links.length - NAMED} more` : '';
  return [
    `symbolic links are not followed: ${named.join(', ')}${more}; only the files that they lead to are checked`,
  ];
}

/** What a shallow or partial clone does not have, and how to get it. */
function missingLines({ missing }: Setup): string[] {
  if (missing.length === 0) return [];
  const named = missing.slice(0, NAMED).join(', ');
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : '';
  return [
    `not in this clone: ${named}${more}; if they are catalogs or name owners, the policy lacks them: ${fetchFilesCommand(missing)}, remove ${POLICY_PATH}, and run setup again`,
  ];
}

/** Which owners were found, and what to write for packages without any. */
function ownersLines(made: Setup): string[] {
  const { owners, codeOwners } = made;
  const { packages, owned, certified } = owners;
  return [
    ...(packages === 0
      ? []
      : [
          `owners: found for ${owned} of ${amountText(packages, 'package')}${codeOwners ? `, of ${codeOwners.packages} in ${codeOwners.path}` : ''}`,
        ]),
    ...openLines(made),
    ...(certified.size === 0
      ? []
      : [
          `${amountText(certified.size, 'package')} with a cert_project_id and no reviewers: the repository does not say whose project it is; add reviewers to ci.yaml, or fill in ${OWNERS_PATH}`,
        ]),
  ];
}

/** What is checked of bundles, and of templates, that no catalog of the repository is made of. */
function bundleLines(made: Setup): string[] {
  const { templates, found, rebuilt } = made;
  const { bundlePackages, bundlePatterns, otherBundles, bundleCatalogs } = made;
  const hasCatalogs = found.patterns.length > 0;
  const generated =
    bundleCatalogs.length > 0
      ? `the policy names the catalogs that a pipeline generates from them: ${bundleCatalogs.join(', ')} (bundleCatalogs)`
      : `Portolan checks the bundles. ${NAME_CATALOG}`;
  // Without such merges, the reason is that setup has found a pipeline of Konflux.
  const whyRebuilt =
    rebuilt.merges === 0
      ? 'Konflux may rebuild a merged bundle until it is released'
      : `${rebuilt.merges} of the last ${rebuilt.of} merges replaced the image of a merged bundle, and .tekton/ builds it`;
  return [
    ...(!hasCatalogs && bundlePackages > 0
      ? [`bundles: ${amountText(bundlePackages, 'package')} in operators/ and no catalog; ${generated}`]
      : []),
    ...(bundlePatterns.length === 0
      ? []
      : [
          `bundles: the policy names their directories (layout.bundle): ${shortList(bundlePatterns, 'patterns')}. Portolan checks them, but no catalog. ${NAME_CATALOG}`,
        ]),
    ...(otherBundles.length === 0
      ? []
      : [
          `bundles: ${shortList(otherBundles, 'folders')}: Portolan checks the bundle that a pull request changes, and its upgrade from the version before`,
        ]),
    ...(made.packageManifests.length === 0
      ? []
      : [
          `package manifests: not checked, because they are the format before bundles: ${shortList(made.packageManifests, 'folders')}; portolan convert package-manifests makes a catalog of one`,
        ]),
    ...(made.files.get(POLICY_PATH)?.includes('rebuilds: heads')
      ? [
          `bundles: ${whyRebuilt}: the policy allows that for one head of a channel in each package and merge (graph.rebuilds). If merges are published, remove the line; better, name what is: graph.released`,
        ]
      : []),
    ...(!hasCatalogs && templates.length > 0
      ? [
          `templates without a rendered catalog: ${templates.slice(0, NAMED).join(', ')}; Portolan checks catalogs only, so commit what they are rendered to`,
        ]
      : []),
  ];
}

/** How many packages, files or defects are named; the others are counted. */
const NAMED = 5;

/** What the user still has to decide, and what to write. */
function openLines({ owners: { unowned, certified }, decidedOwners, unordered }: Setup): string[] {
  // Certified packages have a line of their own, and those that were answered at the terminal have owners now. Whoever answered
  // left the others to the admins on purpose.
  const left = unowned.length - certified.size - decidedOwners;
  const [first = ''] = unowned;
  const more = unowned.length > NAMED ? ` and ${unowned.length - NAMED} more` : '';
  return [
    ...(left <= 0 || decidedOwners > 0
      ? []
      : [
          `no owner found for ${unowned.slice(0, NAMED).join(', ')}${more}: an admin must approve their changes; to name owners, write into the policy: owners: {packages: {${first}: [LOGIN]}}`,
        ]),
    ...(unordered.length === 0
      ? []
      : [
          `catalogs without an order: ${unordered.join(', ')}; if clusters move between them when the platform is upgraded, write graph: {catalogOrder: [${unordered.join(', ')}]}`,
        ]),
  ];
}

/**
 * Refuses a path that goes through a symbolic link: it would change another folder, and forges, which follow no link of a
 * commit, would not find the file.
 */
function refuseLinks(directory: string, path: string): void {
  const names = dirname(path).split('/');
  const folders = names.map((_, i) => names.slice(0, i + 1).join('/'));
  const link = folders.find((folder) =>
    lstatSync(join(directory, folder), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  if (link === undefined) return;
  throw new PipelineError('usage', `${link} is a symbolic link, so ${path} is not written`, {
    hint: replaceLink(link),
  });
}

/** Writes a new file, with the folders above it. @throws PipelineError `io` */
function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    // With `wx`, a file that came up meanwhile is not overwritten.
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw fileError(error, path);
  }
}
