import { resolve } from 'node:path';
import { addDeprecation } from '../../../catalog/edit/package.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, editWithEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'deprecate',
  operands: 'DIR',
  options: {
    package: {
      value: 'PACKAGE',
      description: 'package to deprecate, unless --channel or --bundle names a part of it',
      required: true,
    },
    channel: { value: 'CHANNEL', description: 'deprecate only this channel' },
    bundle: { value: 'BUNDLE', description: 'deprecate only this bundle' },
    message: { short: 'm', value: 'TEXT', description: 'message to show to users', required: true },
    ...ACCEPT_OPTION,
  },
  details: EFFECT_DETAILS,
  examples: [
    'portolan deprecate catalogs/v4.20 --package foo --channel alpha -m "alpha is no longer updated: use stable"',
  ],
  run: async (invocation, terminal) => {
    const { operands, needed } = invocation;
    const pkg = needed('package');
    const entry = { ...referenceOf(invocation), message: needed('message') };
    const root = resolve(terminal.directory, operands[0] ?? '.');
    return editWithEffect(root, (files) => addDeprecation(files, pkg, entry), {
      invocation,
      terminal,
    });
  },
};

/**
 * What is deprecated, as an entry of `olm.deprecations` refers to it; a package has no name there.
 *
 * @throws PipelineError `usage`
 */
function referenceOf({ text }: Invocation): { schema: string; name: string } {
  const channel = text('channel');
  const bundle = text('bundle');
  if (channel !== undefined && bundle !== undefined) {
    throw usageError(command, '--channel and --bundle cannot be used together');
  }
  if (channel !== undefined) return { schema: 'olm.channel', name: channel };
  if (bundle !== undefined) return { schema: 'olm.bundle', name: bundle };
  return { schema: 'olm.package', name: '' };
}
