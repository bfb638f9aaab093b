/** The OpenShift release of an ImageSetConfiguration: its payload is read, its images mirrored, its signatures kept. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { startHost, testClient } from '../../fakes/host.ts';
import { sampleImage } from '../../fakes/image.ts';
import { pgpKey } from '../../fakes/openpgp.ts';
import { registry } from '../../fakes/registry.ts';
import { imageStream, payload } from '../../fakes/release.ts';
import { portolan } from '../../fakes/terminal.ts';

const HEAD = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n';
const key = pgpKey();

/** A registry with a release of two images, an empty mirror, and a directory of signatures. */
async function scene({ architectures = ['amd64'], references = '' } = {}) {
  const directory = folder();
  const [source, mirror] = [await registry(), await registry()];
  const client = testClient([source.host, mirror.host]);
  const parts = ['etcd', 'console'].map((name) => ({ name, image: sampleImage({ layers: [name] }) }));
  for (const { name, image } of parts)
    await pushImage(client, parseReference(`${source.host}/ocp/art:${name}`), { image });
  const images = Object.fromEntries(
    parts.map(({ name, image }) => [name, `${source.host}/ocp/art@${image.root.digest}`]),
  );
  const release = payload(references || imageStream(images), architectures);
  const name = `${source.host}/ocp/release:4.20.3-x86_64`;
  await pushImage(client, parseReference(name), { image: release });
  const { digest } = release.root;
  const claims = (about = digest) => ({
    critical: {
      type: 'atomic container signature',
      image: { 'docker-manifest-digest': about },
      identity: { 'docker-reference': name },
    },
  });
  const signs = (bytes: Uint8Array, number = 1) => {
    const place = join(directory, 'signatures', digest.replace(':', '='));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `signature-${number}`), bytes);
  };
  writeFileSync(join(directory, 'key.asc'), key.armored);
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
  const run = (command: string, release: string, ...words: string[]) =>
    runWith('', command, release, ...words);
  /** @param more other fields of `platform` */
  const runWith = (more: string, command: string, release: string, ...words: string[]) => {
    writeFileSync(join(directory, 'isc.yaml'), `${HEAD}  platform: {release: '${release}'${more}}\n`);
    const set = command === 'plan' ? ['--image-set', 'isc.yaml'] : ['isc.yaml'];
    const signatures = words.includes('--release-signatures') ? [] : ['--release-signatures', 'signatures'];
    const options = [
      '--to',
      `${mirror.host}/m`,
      '--release-key',
      'key.asc',
      ...signatures,
      ...hosts,
      ...words,
    ];
    return portolan(directory, 'mirror', command, ...set, ...options);
  };
  const file = (path: string) => readFileSync(join(directory, 'mirror', path), 'utf8');
  return { source, mirror, client, name, digest, claims, signs, run, runWith, file };
}

test('payload and images are copied, and the signature is in a config map for the cluster', async () => {
  const { source, mirror, client, name, digest, claims, signs, run, file } = await scene();
  const signature = key.sign(JSON.stringify(claims()));
  signs(signature);
  const ran = await run('sync', `docker://${name}`);
  expect(ran).toMatchObject({ exit: 0, err: '' });
  expect(ran.out).toContain('3 images: 3 copied');
  expect(ran.out).toContain('Ready for disconnected clusters: 1 of 1 release\n');
  const at = `${mirror.host}/m/${source.host.replace(':', '_')}/ocp/release:4.20.3-x86_64`;
  expect(await client.resolve(parseReference(at))).toMatchObject({ digest });
  expect(file('imageDigestMirrorSet.yaml')).toContain(`source: ${source.host}/ocp/art\n`);
  const map = file('releaseSignatures.yaml');
  expect(map).toContain('namespace: openshift-config-managed\n');
  expect(map).toContain(`${digest.replace(':', '-')}-1: ${signature.toString('base64').slice(0, 20)}`);
  expect(file('kustomization.yaml')).toContain('- releaseSignatures.yaml\n');
  expect(file('kustomization.yaml')).not.toContain('operatorHub');
});

test('an older release under the tag of a newer one is refused, with all its signatures', async () => {
  const older = imageStream({ etcd: `quay.io/ocp/art@sha256:${'e'.repeat(64)}` }, '4.19.1');
  const { name, claims, signs, run, file } = await scene({ references: older });
  signs(key.sign(JSON.stringify(claims())));
  const ran = await run('plan', name);
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain('the release under the tag 4.20.3-x86_64 is version 4.19.1');
  expect(file('mapping.txt')).toBe('');
  // A number that begins alike is another version.
  const alike = await scene({ references: older.replace('4.19.1', '4.20.30') });
  alike.signs(key.sign(JSON.stringify(alike.claims())));
  expect(await alike.run('plan', alike.name)).toMatchObject({ exit: 1 });
});

test.each([
  ['etcd\nquay.io/other/one:v1=mirror.example.com/m/other:v1', '4.20.3', 'a name in spec.tags[0]'],
  ['etcd', '4.20.3\n', 'a version in metadata.name'],
])('a payload cannot write lines of the mapping: %j of %j', async (image, version, why) => {
  const references = imageStream({ [image]: `quay.io/ocp/art@sha256:${'e'.repeat(64)}` }, version);
  const { name, run } = await scene({ references });
  const ran = await run('plan', name, '--release-signatures', 'none');
  expect(ran.exit).toBe(1);
  expect(ran.err).toContain(`${why} that cannot be part of a tag`);
});

test('names as oc-mirror gives them', async () => {
  const { mirror, name, claims, signs, run, file, digest, source } = await scene();
  signs(key.sign(JSON.stringify(claims())));
  // By digest, the tag is the one that was signed.
  expect(await run('plan', `${source.host}/ocp/release@${digest}`, '--style', 'oc-mirror')).toMatchObject({
    exit: 0,
  });
  const destinations = file('mapping.txt').match(/(?<==docker:\/\/).*/g);
  expect(destinations?.sort()).toEqual(
    ['release-images:4.20.3-x86_64', 'release:4.20.3-x86_64-console', 'release:4.20.3-x86_64-etcd'].map(
      (one) => `${mirror.host}/m/openshift/${one}`,
    ),
  );
  expect(name).toContain('x86_64');
});

test('a release for several architectures', async () => {
  const { name, claims, signs, run, digest, client, mirror, source } = await scene({
    architectures: ['amd64', 'arm64'],
  });
  signs(key.sign(JSON.stringify(claims())));
  expect(await run('sync', name)).toMatchObject({ exit: 0, out: expect.stringContaining('1 of 1 release') });
  const at = `${mirror.host}/m/${source.host.replace(':', '_')}/ocp/release:4.20.3-x86_64`;
  expect(await client.resolve(parseReference(at))).toMatchObject({ digest });
});

test('a signature of something else, of somebody else or of nothing is an error, and an unsigned release needs consent', async () => {
  const { name, claims, signs, run } = await scene();
  const refused = (why: string) => ({ exit: 1, err: expect.stringContaining(why) });
  expect(await run('plan', name)).toMatchObject(refused('has no signature of the release sha256:'));
  signs(pgpKey().sign(JSON.stringify(claims())));
  expect(await run('plan', name)).toMatchObject(
    refused('the signature of the release is of the unknown key'),
  );
  signs(key.sign(JSON.stringify(claims(`sha256:${'0'.repeat(64)}`))));
  expect(await run('plan', name)).toMatchObject(refused('is about another image: "sha256:000'));
  const { critical } = claims();
  signs(key.sign(JSON.stringify({ critical: { ...critical, type: 'cosign container image signature' } })));
  expect(await run('plan', name)).toMatchObject(refused('its type is "cosign container image signature"'));
  signs(key.sign('hello'));
  expect(await run('plan', name)).toMatchObject(refused('is not about an image'));
  expect(await run('plan', name)).toMatchObject({ out: 'Ready for disconnected clusters: 0 of 1 release\n' });
  // One good signature is enough; the others stay out of the config map.
  signs(key.sign(JSON.stringify(claims())), 2);
  expect(await run('plan', name)).toMatchObject({ exit: 0 });
  expect(await run('plan', name, '--release-signatures', 'none')).toMatchObject({
    exit: 0,
    err: expect.not.stringContaining('releaseSignatures.yaml,'),
  });
});

test('a key file that is not OpenPGP is named', async () => {
  const { name, run } = await scene();
  // isc.yaml is there, and is no key.
  expect(await run('plan', name, '--release-key', 'isc.yaml')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('--release-key: isc.yaml is not an OpenPGP message'),
  });
});

test('signatures come from a web server, too', async () => {
  const { name, claims, digest, run, file } = await scene();
  const signature = key.sign(JSON.stringify(claims()));
  const host = await startHost(({ url }, response) => {
    if (url === `/sigs/${digest.replace(':', '=')}/signature-1`) response.end(signature);
    else response.writeHead(404).end();
  });
  const at = `http://${host.host}/sigs`;
  expect(await run('plan', name, '--release-signatures', at, '--insecure', host.host)).toMatchObject({
    exit: 0,
  });
  expect(file('releaseSignatures.yaml')).toContain(digest.replace(':', '-'));
});

test('an image that is not a release, or breaks its own format, is an error', async () => {
  const { source, run } = await scene();
  const none = ['--release-signatures', 'none'];
  expect(await run('plan', `${source.host}/ocp/art:etcd`, ...none)).toMatchObject({
    exit: 1,
    err: expect.stringContaining('is not an OpenShift release: it has no release-manifests/image-references'),
  });
  expect(await run('plan', `${source.host}/ocp/gone:1`, ...none)).toMatchObject({
    exit: 1,
    err: expect.stringContaining('there is no such release'),
  });
  for (const [references, why] of [
    ['{', 'is not an ImageStream'],
    ['{"kind":"ImageStream","metadata":{"name":"1"},"spec":{"tags":[]}}', 'names no image in spec.tags'],
    [
      '{"kind":"ImageStream","metadata":{"name":"1"},"spec":{"tags":[{"name":"a"}]}}',
      'spec.tags[0].from.name',
    ],
  ] as const) {
    const broken = await scene({ references });
    expect(await broken.run('plan', broken.name, ...none)).toMatchObject({
      exit: 1,
      err: expect.stringContaining(why),
    });
  }
});

test('every image of the real list of OpenShift 4.12.0 is in the plan', async () => {
  // From the tests of github.com/openshift/oc-mirror (Apache-2.0), without annotations.
  const path = 'test/pipeline/mirror/releases/fixtures/ocp-release-4.12.0.image-references.json';
  const references = readFileSync(path, 'utf8');
  const { source, digest, run, file } = await scene({ references });
  expect(
    await run('plan', `${source.host}/ocp/release@${digest}`, '--release-signatures', 'none'),
  ).toMatchObject({ exit: 0 });
  const listed = new Set(references.match(/quay\.io\/[^"]+/g));
  const planned = new Set(file('mapping.txt').match(/^quay\.io\/[^=]+/gm));
  expect(planned).toEqual(listed);
});
