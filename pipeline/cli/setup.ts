import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileError } from '../directory.ts';
import { openRepository } from '../git/repository.ts';
import { parseIdentity } from '../github/identity.ts';
import { plain } from '../report/text.ts';
import { setup } from '../stages/setup.ts';
import { type Command, usageError } from './command.ts';
import { searchPath } from './terminal.ts';

export const command: Command = {
  words: 'setup',
  summary: 'Write the policy and the workflows that gate a repository, by looking at its layout.',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'the work tree of the repository (default: this directory)' },
    commit: { value: 'REF', description: 'what is looked at (default: HEAD)' },
    admin: {
      value: 'LOGIN',
      description: 'who may change everything: LOGIN, LOGIN#ID or @ORG/TEAM, with commas between',
    },
    action: {
      value: 'REPO@COMMIT',
      description: 'the action that the workflows use, in place of portolan/portolan',
    },
    'dry-run': { description: 'print what would be written' },
  },
  details: 'Files that are there are left as they are.',
  examples: [
    'portolan setup --admin alice,@my-org/catalog-admins',
    'portolan setup --repo ../catalogs --dry-run',
  ],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const admins = (invocation.text('admin') ?? '').split(',').filter((text) => text !== '');
    const wrong = admins.find((text) => parseIdentity(text) === undefined);
    if (wrong !== undefined)
      throw usageError(command, `--admin: ${JSON.stringify(wrong)} is no LOGIN, LOGIN#ID or @ORG/TEAM`);
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
        `catalogs: ${found.patterns.join(', ') || 'none found; the default layout holds'}`,
        ...fresh.map(([path]) => `${invocation.flag('dry-run') ? 'would write' : 'wrote'} ${path}`),
        ...[...kept, ...there].map((path) => `kept ${path}`),
        ...(admins.length === 0
          ? ['name the admins in the policy: without them nobody can let in a new package']
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
