/** Packages taken out of an index image's catalog: by name, or all but those of a name. */
import { type Blobs, blobsOfPackages } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { PipelineError } from '../../error.ts';
import { type Command, usageError } from '../command.ts';
import { formatOf, renderAll, renderingOf } from '../rendering.ts';
import { ACCEPT_OPTION, MADE_DETAILS, madeWithEffect } from '../show-effect.ts';
import { deliverIndex, INDEX_OPTIONS, TAG_DETAILS } from './index-image.ts';

interface Kind {
  readonly words: string;
  /** The option that names packages. */
  readonly option: string;
  readonly description: string;
  /** Whether the packages that are named stay. */
  readonly keeps: boolean;
}

/** The command that keeps, or removes, packages of an index. */
function keepCommand({ words, option, description, keeps }: Kind): Command {
  const command: Command = {
    words,
    operands: '',
    options: {
      [option]: { value: 'PACKAGE,…', description, required: true },
      'from-index': {
        value: 'REFERENCE',
        description: 'index image, database or directory to start from',
        required: true,
      },
      ...ACCEPT_OPTION,
      ...INDEX_OPTIONS,
    },
    details: [
      'Prints the resulting catalog, or writes it with --to or --tag. Losing the packages that are removed does not count as',
      'an error.',
      '',
      MADE_DETAILS,
      '',
      ...TAG_DETAILS,
    ].join('\n'),
    examples: [`portolan ${words} --${option} foo,bar --from-index quay.io/example/index:v4.20 --to catalog`],
    run: async (invocation, terminal) => {
      const names = new Set(
        invocation
          .needed(option)
          .split(',')
          .filter((name) => name !== ''),
      );
      if (names.size === 0) throw usageError(command, `--${option} must name at least one package`);
      const index = invocation.needed('from-index');
      const rendering = { ...renderingOf(invocation, terminal), only: 'catalogs' as const };
      const read = async (): Promise<Blobs | undefined> => {
        const blobs = await renderAll([index], rendering, terminal);
        if (!blobs) return undefined;
        // That clusters lose what is to be removed is what was asked for.
        const isAsked = ({ package: name = '' }: Finding): boolean => names.has(name) !== keeps;
        const made = { name: 'index', before: blobs, after: keptBlobs(blobs, names, keeps), isAsked };
        return madeWithEffect(made, { invocation, terminal });
      };
      return deliverIndex(read, formatOf(invocation), { invocation, terminal });
    },
  };
  return command;
}

/**
 * The blobs of the named packages, or of all others.
 *
 * @param keeps whether the named ones stay
 * @throws PipelineError `not-found` for a package that is not there
 */
function keptBlobs(blobs: Blobs, names: ReadonlySet<string>, keeps: boolean): Blobs {
  const there = new Set(blobs.packages.map(({ name }) => name));
  const missing = [...names].filter((name) => !there.has(name)).sort(compareText);
  if (missing.length > 0) {
    throw new PipelineError(
      'not-found',
      `no catalog has the package ${missing.map((name) => JSON.stringify(name)).join(', ')}`,
    );
  }
  // Blobs of no package stay.
  return blobsOfPackages(blobs, (name) => name === '' || names.has(name) === keeps);
}

export const remove: Command = keepCommand({
  words: 'index rm',
  option: 'operators',
  description: 'packages to remove',
  keeps: false,
});

export const prune: Command = keepCommand({
  words: 'index prune',
  option: 'packages',
  description: 'packages to keep',
  keeps: true,
});
