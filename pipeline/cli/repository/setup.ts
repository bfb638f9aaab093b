import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileError } from '../../directory.ts';
import { openRepository } from '../../git/repository.ts';
import { parseIdentity } from '../../policy/identity.ts';
import { setup } from '../../policy/setup/setup.ts';
import { searchPath } from '../../terminal.ts';
import { plain } from '../../text.ts';
import { type Command, usageError } from '../command.ts';

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
      };
      const { found, files, kept } = await setup(repository, request);
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
        ...(admins.length === 0
          ? ['add admins to the policy: without them, nobody can approve a new package']
          : []),
        ...(admins.length === 1 && parseIdentity(admins[0] ?? '')?.kind === 'account'
          ? [
              `${admins[0]} is the only admin, and may change the gate alone; once you add a second admin to owners.admins, such changes need both`,
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

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw fileError(error, path);
  }
}
