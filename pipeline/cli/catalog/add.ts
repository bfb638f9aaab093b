import { resolve } from 'node:path';
import { addBundle } from '../../../catalog/edit/package.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { holdsBundle } from '../../catalogs/bundle/open-directory.ts';
import type { Edit } from '../../catalogs/edit/catalog.ts';
import { renderReference } from '../../catalogs/render/reference.ts';
import { isDirectory } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, editWithEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'add',
  operands: 'BUNDLE DIR',
  options: {
    channel: {
      value: 'CHANNEL',
      description: 'channel to add the bundle to; created if it does not exist',
      required: true,
    },
    replaces: { value: 'BUNDLE', description: 'bundle that the new one replaces' },
    skips: { value: 'BUNDLE', description: 'bundle that the new one skips', multiple: true },
    'skip-range': {
      value: 'RANGE',
      description: 'versions that can upgrade directly to the new one, for example <1.2.0',
    },
    image: { value: 'REFERENCE', description: 'future image of a bundle in a directory' },
    ...ACCEPT_OPTION,
    ...REGISTRY_OPTIONS,
  },
  details:
    'BUNDLE is an image or a bundle directory. A change that would make the catalog violate a new rule is rejected.\n' +
    EFFECT_DETAILS,
  examples: [
    'portolan add quay.io/example/foo-bundle:v1.2.0 catalogs/v4.20 --channel stable --replaces foo.v1.1.0',
  ],
  run: async (invocation, terminal) => {
    const { operands, needed, text, list } = invocation;
    const channel = needed('channel');
    const bundle = await bundleOf(operands[0] ?? '', invocation, terminal);
    if (!bundle) return 1;
    const replaces = text('replaces');
    const skipRange = text('skip-range');
    const place = {
      ...(replaces === undefined ? {} : { replaces }),
      ...(list('skips').length === 0 ? {} : { skips: list('skips') }),
      ...(skipRange === undefined ? {} : { skipRange }),
    };
    const root = resolve(terminal.directory, operands[1] ?? '.');
    const edit: Edit = (files) => addBundle(files, bundle, { channel, place });
    return editWithEffect(root, edit, { invocation, terminal });
  },
};

/** The bundle that is to be added; undefined after its errors were printed. */
async function bundleOf(
  reference: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<Bundle | undefined> {
  const path = resolve(terminal.directory, reference);
  if (isDirectory(path) && !holdsBundle(path)) {
    throw new PipelineError(
      'usage',
      `${reference} is not a bundle: it has no manifests/ and metadata/ folders`,
    );
  }
  const image = invocation.text('image');
  const { blobs, findings } = await renderReference(reference, {
    directory: terminal.directory,
    registry: (host) => registryClientFor(invocation, terminal, { hosts: [host] }),
    // With olm.csv.metadata in place of the manifests, which would be most of the catalog.
    migrates: true,
    ...(image === undefined ? {} : { imageTemplate: () => image }),
  });
  for (const finding of findings) terminal.err(findingText(finding));
  if (findings.some(({ severity }) => severity === 'error')) return undefined;
  const [bundle] = blobs.bundles;
  if (bundle && blobs.bundles.length === 1 && blobs.packages.length === 0) return bundle;
  throw new PipelineError('usage', `${reference} is a catalog, not a bundle`);
}
