import { resolve } from 'node:path';
import { checkBundle } from '../../catalogs/bundle/check-bundle.ts';
import { bundleImage, MEDIA_TYPES } from '../../catalogs/bundle/image.ts';
import { openBundleDirectory } from '../../catalogs/bundle/open-directory.ts';
import {
  formatLocation,
  type ImageLocation,
  locationFrom,
  parseLocation,
} from '../../oci/registry/image-location.ts';
import { openDestination } from '../../oci/registry/open.ts';
import { pushImage } from '../../oci/registry/push.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { countText, findingText, plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

const OPTIONS: Command['options'] = {
  'media-type': {
    value: MEDIA_TYPES.join('|'),
    description: 'media types of the image; OpenShift before 4.20 needs docker (default: oci)',
  },
  force: { description: 'build the image even if the bundle has errors' },
  ...REGISTRY_OPTIONS,
};

const DETAILS = [
  'Validates the bundle first, as portolan bundle validate does. The image has a single layer with manifests/ and',
  'metadata/, no base image, and the bundle annotations as labels. The same files always produce the same digest.',
].join('\n');

export const build: Command = {
  words: 'bundle build',
  operands: 'DIR oci:DIR[:TAG]|oci-archive:FILE|docker-archive:FILE',
  details: DETAILS,
  options: OPTIONS,
  examples: ['portolan bundle build operators/etcd/0.9.4 oci:images:v0.9.4'],
  run: (invocation, terminal) => {
    const place = placeOf(invocation, terminal);
    if (place.kind === 'registry') {
      throw usageError(build, `${formatLocation(place)} is in a registry: use portolan bundle push`);
    }
    return buildAndPush(place, invocation, terminal);
  },
};

export const push: Command = {
  words: 'bundle push',
  operands: 'DIR REFERENCE',
  details: `${DETAILS}\nExisting blobs are not uploaded again. The tag moves last.`,
  options: OPTIONS,
  examples: ['portolan bundle push operators/etcd/0.9.4 quay.io/example/etcd-bundle:v0.9.4'],
  run: (invocation, terminal) => buildAndPush(placeOf(invocation, terminal), invocation, terminal),
};

/** Where the image goes: the second operand. */
function placeOf({ operands: [, to = ''] }: Invocation, { directory }: Terminal): ImageLocation {
  return locationFrom(directory, parseLocation(to));
}

/** Checks a bundle, builds its image and pushes it. With errors, it is built only with --force. */
async function buildAndPush(
  place: ImageLocation,
  invocation: Invocation,
  terminal: Terminal,
): Promise<ExitCode> {
  const [directory = '', to = ''] = invocation.operands;
  const mediaType = MEDIA_TYPES.find((type) => type === invocation.text('media-type')) ?? 'oci';
  const bundle = openBundleDirectory(resolve(terminal.directory, directory));
  const { findings } = await checkBundle(bundle, { suites: ['default'] });
  const errors = findings.filter(({ severity }) => severity === 'error');
  for (const finding of errors) terminal.err(findingText(finding));
  if (errors.length > 0 && !invocation.flag('force')) {
    terminal.err(`FAIL: ${countText(errors)}; no image was built\n`);
    return 1;
  }
  const image = await bundleImage(bundle.source, mediaType);
  return withRegistryClient<ExitCode>(invocation, terminal, { named: [to] }, async (client) => {
    const destination = await openDestination(place, client);
    try {
      const { digest, unchanged } = await pushImage(destination.registry, destination.reference, { image });
      await destination.finish();
      await terminal.out(`${digest}\n`);
      terminal.err(`${plainText(to)}: ${unchanged ? 'unchanged, ' : 'now '}${digest}\n`);
      return 0;
    } catch (error) {
      await destination.discard();
      throw error;
    }
  });
}
