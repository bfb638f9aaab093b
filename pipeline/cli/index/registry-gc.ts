import { resolve } from 'node:path';
import { collectGarbage } from '../../oci/registry/layout/collect.ts';
import { amountText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';

export const command: Command = {
  words: 'registry gc',
  operands: 'DIR',
  options: {
    untagged: {
      value: 'AGE',
      description:
        'also remove manifests without a tag that are older than this, such as 7d (default: keep them)',
    },
    'min-age': { value: 'AGE', description: 'keep every file that is younger than this (default: 1h)' },
    'dry-run': { description: 'list what would be removed, without removing it' },
    json: { description: 'write the result as JSON' },
  },
  details: [
    'DIR is an OCI image layout: the directory of portolan registry, or DIR/registry of portolan publish --local. Removes files',
    'that no manifest names. A manifest without a tag stays while a list names it, or while it is about a manifest that stays, as',
    'a signature is. Registries and other programs may use the layout meanwhile. AGE is a number with m, h or d: 30m, 24h, 7d.',
  ].join('\n'),
  examples: ['portolan registry gc .portolan/registry --untagged 7d --dry-run'],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.operands[0] ?? '.');
    const dryRun = invocation.flag('dry-run');
    const untagged = ageOption(invocation, 'untagged');
    const { manifests, blobs, bytes, kept } = await collectGarbage(directory, {
      dryRun,
      youngest: ageOption(invocation, 'min-age') ?? HOUR,
      ...(untagged === undefined ? {} : { untagged }),
    });
    if (invocation.flag('json')) {
      const removed = manifests.map(({ repository, descriptor }) => ({
        repository,
        digest: descriptor.digest,
      }));
      await terminal.out(
        `${JSON.stringify({ dryRun, manifests: removed, files: blobs, bytes, kept }, null, 2)}\n`,
      );
      return 0;
    }
    for (const { repository = '', descriptor } of manifests)
      await terminal.out(`- ${plainText(`${repository}@${descriptor.digest}`)}\n`);
    const what = `${amountText(manifests.length, 'manifest')} without a tag and ${amountText(blobs.length, 'file')}`;
    const verb = dryRun ? 'would remove' : 'removed';
    await terminal.out(`${verb} ${what}, ${(bytes / 1e6).toFixed(1)} MB; ${amountText(kept, 'file')} stay\n`);
    return 0;
  },
};

/** In milliseconds. */
const HOUR = 3600_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR, d: 24 * HOUR };

/** The value of an option such as `7d`, in milliseconds; undefined if it is not given. @throws PipelineError `usage` */
function ageOption(invocation: Invocation, option: string): number | undefined {
  const text = invocation.text(option);
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw usageError(
      command,
      `--${option} must be a number with m, h or d, such as 7d, not ${JSON.stringify(text)}`,
    );
  return Number(count) * (UNITS[unit] ?? 0);
}
