import { resolve } from 'node:path';
import type { FileText } from '../../../catalog/edit/file.ts';
import { packageOf, withoutBlobs } from '../../../catalog/edit/package.ts';
import { type Edit, textsOf } from '../../catalogs/edit/catalog.ts';
import { directorySource } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { type Command, isGiven, usageError } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, editWithEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'promote',
  operands: '[PACKAGE]',
  options: {
    from: {
      value: 'DIR|CATALOG',
      description: 'catalog to copy from: a directory; without PACKAGE, a name',
      required: true,
    },
    to: {
      value: 'DIR|CATALOG',
      description: 'catalog to copy to; with PACKAGE, an existing package with the name is replaced',
      required: true,
    },
    repo: {
      value: 'DIR|OWNER/NAME',
      description:
        'without PACKAGE: path of the repository (default: current directory), or a GitHub repository, to open pull requests',
    },
    base: { value: 'BRANCH', description: 'branch on GitHub (default: the default branch)' },
    group: { description: 'open one pull request for all packages (default: one for each group of owners)' },
    ...ACCEPT_OPTION,
  },
  details: [
    'With PACKAGE, the package of the other catalog takes the place of the one in --to, with all its versions.',
    '',
    'Without PACKAGE, promotes all packages of a catalog that the next one does not have, as the ci.yaml of each says',
    '(fbc.version_promotion_strategy): always, review-needed (the default) or never. Portolan copies the files of the last',
    'commit, and adds the catalog to the mapping in ci.yaml.',
    '',
    EFFECT_DETAILS,
    '',
    'With --repo OWNER/NAME, Portolan opens pull requests, or updates those that are open. GITHUB_TOKEN (or GH_TOKEN) needs the',
    'permissions contents: write and pull-requests: write.',
  ].join('\n'),
  examples: [
    'portolan promote foo --from catalogs/v4.19 --to catalogs/v4.20',
    'portolan promote --from v4.21 --to v4.22',
    'portolan promote --from v4.21 --to v4.22 --repo my-org/catalogs',
  ],
  run: async (invocation, terminal) => {
    const { operands, needed } = invocation;
    const [pkg] = operands;
    if (pkg === undefined) return (await import('./promote-catalog.ts')).promoteCatalog(invocation, terminal);
    const other = ['repo', 'base', 'group'].find((option) => isGiven(invocation, option));
    if (other !== undefined) throw usageError(command, `--${other} has no effect with PACKAGE`);
    const from = resolve(terminal.directory, needed('from'));
    const to = resolve(terminal.directory, needed('to'));
    const wanted = (await textsOf(directorySource(from))).flatMap((file) => onlyPackage(file, pkg));
    if (wanted.length === 0) {
      throw noPackage(pkg, []);
    }
    return editWithEffect(to, replaceFiles(pkg, wanted), { invocation, terminal });
  },
};

/** A file with nothing but one package in it; nothing when it holds none of it. */
function onlyPackage(file: FileText, pkg: string): FileText[] {
  const pieces = file.pieces.filter(({ blob }) => !blob || packageOf(blob) === pkg);
  return pieces.some(({ blob }) => blob) ? [{ ...file, pieces }] : [];
}

/**
 * The edit that replaces a package's files by new ones. If another package uses the name of a new file, the new text is
 * added to that file.
 */
function replaceFiles(pkg: string, wanted: readonly FileText[]): Edit {
  return (files) => {
    const rest = new Map(
      withoutBlobs(files, (blob) => packageOf(blob) === pkg).map((file) => [file.path, file]),
    );
    // `rest` has the files that change, `all` the others too: a new text may have to go into one of them.
    const all = new Map([...files.map((file) => [file.path, file] as const), ...rest]);
    for (const file of wanted) {
      const old = all.get(file.path);
      const others = old?.pieces.some(({ blob }) => blob) ? old.pieces : [];
      if (others.length > 0 && old?.format !== file.format) {
        throw new PipelineError('conflict', `${file.path} contains other packages in a different format`);
      }
      rest.set(file.path, {
        ...file,
        pieces: others.length === 0 ? file.pieces : [...withLineEnd(others), ...withSeparator(file)],
      });
    }
    return [...rest.values()];
  };
}

/** Pieces of which the last ends its line, so that others can follow. */
function withLineEnd(pieces: FileText['pieces']): FileText['pieces'] {
  const last = pieces.at(-1);
  if (!last || last.text.endsWith('\n')) return pieces;
  return [...pieces.slice(0, -1), { ...last, text: `${last.text}\n` }];
}

/** Pieces that can follow others: in YAML, with a line of three dashes before them. */
function withSeparator({ pieces, format }: FileText): FileText['pieces'] {
  const [first, ...rest] = pieces;
  if (!first || format === 'json' || first.text.startsWith('---')) return pieces;
  return [{ ...first, text: `---\n${first.text}` }, ...rest];
}
