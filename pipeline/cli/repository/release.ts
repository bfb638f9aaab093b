import { resolve } from 'node:path';
import { type BuiltBundle, builtBundle, folderOf, pushMade } from '../../catalogs/release/bundle-image.ts';
import { releasedTexts, writeReleased } from '../../catalogs/release/release.ts';
import { directoryRepository, type ReleaseRepository } from '../../catalogs/release/release-repository.ts';
import { PipelineError } from '../../error.ts';
import { POLICY_PATH, readPolicy } from '../../policy/read-policy.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText, plainText } from '../../text.ts';
import type { Command, Invocation } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { renderingOf } from '../rendering.ts';
import { ACCEPT_OPTION, EFFECT_DETAILS, showEffect } from '../show-effect.ts';

export const command: Command = {
  words: 'release',
  operands: 'PACKAGE VERSION',
  options: {
    repo: { value: 'DIR', description: 'path of the work tree (default: current directory)' },
    image: {
      value: 'REFERENCE',
      description:
        "bundle image, published or not (default: the policy's release.bundles, with the digest of the future image)",
    },
    push: { description: 'build and push the image first; catalogs then name it by digest' },
    ...ACCEPT_OPTION,
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Updates the templates first, then the catalogs. Reads the bundle from operators/PACKAGE/VERSION. Its',
    'release-config.yaml and the ci.yaml of the package name the templates to update and the catalogs to render from them.',
    'Other bundles are copied from the existing catalogs, so Portolan does not request them from a registry again.',
    'Run this command in the pull request that adds the bundle. With release.bundles in the policy, the image does not',
    'have to exist yet: Portolan computes its digest, and the merge pushes it.',
    '',
    EFFECT_DETAILS,
  ].join('\n'),
  examples: [
    'portolan release etcd 1.2.0',
    'portolan release etcd 1.2.0 --image quay.io/my-org/etcd-bundle:v1.2.0 --push',
    'portolan release etcd 1.2.0 --image quay.io/my-org/etcd-bundle@sha256:…',
  ],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const [name = '', version = ''] = invocation.operands;
    const place = directoryRepository(directory);
    const made = await madeOf(place, invocation);
    const image = made?.reference ?? invocation.needed('image');
    const rendering = renderingOf(invocation, terminal);
    const released = await releasedTexts(place, { package: name, version, image, rendering });
    for (const finding of released.findings) terminal.err(findingText(finding));
    if (released.findings.length > 0) {
      terminal.err('FAIL: no file was written\n');
      return 1;
    }
    const edit = { root: directory, files: released.texts };
    if (!(await showEffect(edit, { invocation, terminal }))) return 1;
    if (made && invocation.flag('push')) await push(made, invocation, terminal);
    const changed = writeReleased(directory, released);
    await terminal.out(changed.map((path) => `${plainText(path)}\n`).join(''));
    return 0;
  },
};

/** The image that is made of the bundle's folder; undefined for one that somebody else makes. */
async function madeOf(place: ReleaseRepository, invocation: Invocation): Promise<BuiltBundle | undefined> {
  const given = invocation.text('image');
  if (given !== undefined && !invocation.flag('push')) return undefined;
  const [name = '', version = ''] = invocation.operands;
  const pattern = given ?? (await patternOf(place));
  const source = await place.folder(folderOf({ package: name, version }));
  // Without the folder there is no image, and the release reports that.
  return source && builtBundle(pattern, { package: name, version }, source);
}

/** The pattern for references of bundle images in the policy. @throws PipelineError `usage` without one */
async function patternOf(place: ReleaseRepository): Promise<string> {
  const text = await place.text(POLICY_PATH);
  const { policy } = readPolicy(text === undefined ? undefined : Buffer.from(text));
  if (policy?.release) return policy.release.bundles;
  throw new PipelineError(
    'usage',
    `no image is configured for the bundle: ${POLICY_PATH} has no release.bundles`,
    {
      hint: "use --image, or add release: {bundles: 'quay.io/my-org/{package}-bundle:v{version}'}",
    },
  );
}

/** Pushes the image of the bundle under its tag, which never moves to another image. */
async function push(made: BuiltBundle, invocation: Invocation, terminal: Terminal): Promise<void> {
  return withRegistryClient(invocation, terminal, { hosts: [made.tag.registry] }, async (client) => {
    const isNew = await pushMade(client, made);
    terminal.err(`${plainText(made.reference)} ${isNew ? 'pushed' : 'already exists'}\n`);
  });
}
