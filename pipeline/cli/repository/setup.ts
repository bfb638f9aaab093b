import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileError } from '../../directory.ts';
import { type GitSettings, runGit } from '../../git/process.ts';
import { openRepository } from '../../git/repository.ts';
import { parseIdentity } from '../../policy/identity.ts';
import { TRIGGERS, type Trigger } from '../../policy/setup/adapt.ts';
import { type Setup, setup } from '../../policy/setup/setup.ts';
import { searchPath } from '../../terminal.ts';
import { plain } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';

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
    'dry-run': { description: 'print the files without writing them' },
  },
  details: 'Existing files are not changed.',
  examples: [
    'portolan setup --admin alice,@my-org/catalog-admins',
    'portolan setup --repo ../catalogs --dry-run',
  ],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const admins = (invocation.text('admin') ?? '').split(',').filter((text) => text !== '');
    const wrong = admins.find((text) => parseIdentity(text) === undefined);
    if (wrong !== undefined)
      throw usageError(command, `--admin must be LOGIN, LOGIN#ID or @ORG/TEAM, not ${JSON.stringify(wrong)}`);
    const repository = await openRepository(directory, searchPath(terminal));
    try {
      const request = {
        commit: invocation.text('commit') ?? 'HEAD',
        admins,
        action: invocation.text('action'),
        trigger: triggerOf(invocation),
        branch: await defaultBranch(directory, searchPath(terminal)),
      };
      const made = await setup(repository, request);
      const { found, files, kept } = made;
      // What nobody has committed yet is there as well.
      const fresh = [...files].filter(([path]) => !existsSync(join(directory, path)));
      for (const [path, text] of fresh) {
        if (invocation.flag('dry-run')) await terminal.out(`--- ${path}\n${text}`);
        else write(join(directory, path), text);
      }
      const there = [...files.keys()].filter((path) => !fresh.some(([one]) => one === path));
      const lines = [
        `catalogs: ${found.patterns.map((one) => (typeof one === 'string' ? one : one.path)).join(', ') || 'none found; the policy uses the default layout'}`,
        ...fresh.map(([path]) => `${invocation.flag('dry-run') ? 'would write' : 'wrote'} ${path}`),
        ...[...kept, ...there].map((path) => `kept ${path}`),
        ...ownersLines(made),
        ...(made.admins.length === 0
          ? ['add admins to the policy: without them, nobody can approve a new package']
          : []),
        ...(made.admins.length === 1 && parseIdentity(made.admins[0] ?? '')?.kind === 'account'
          ? [
              `${made.admins[0]} is the only admin, and may change the gate alone; once you add a second admin to owners.admins, such changes need both`,
            ]
          : []),
      ];
      await terminal.out(`${lines.map(plain).join('\n')}\n`);
      return 0;
    } finally {
      await repository.close();
    }
  },
};

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

/** What was found of owners, and what to write where nothing was. */
function ownersLines({ owners, templates, found }: Setup): string[] {
  const { packages, owned, certified } = owners;
  return [
    ...(packages === 0 ? [] : [`owners: found for ${owned} of ${packages} packages`]),
    ...(certified === 0
      ? []
      : [
          `${certified} packages have a cert_project_id and no reviewers; the repository does not say whose project it is: add reviewers to their ci.yaml, or owners.packages to the policy`,
        ]),
    ...(found.patterns.length === 0 && templates.length > 0
      ? [
          `templates without a rendered catalog: ${templates.slice(0, 5).join(', ')}; Portolan checks catalogs only, so commit what they are rendered to`,
        ]
      : []),
  ];
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw fileError(error, path);
  }
}
