/** The functions' steps with no cloud, as the command line has them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../fakes/folder.ts';
import { testClient } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { registry } from '../../../fakes/registry.ts';
import { type SampleRepository, sampleFiles, sampleRepository } from '../../../fakes/sample.ts';
import { portolan, runCommand } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = sampleRepository();
});
afterAll(() => sample.remove());

test('publishes every catalog of the policy; status says so', async () => {
  const directory = folder();
  expect(await portolan(directory, 'status', directory)).toMatchObject({
    exit: 0,
    out: 'nothing has been published yet\n',
  });
  const words = ['publish', '--repo', sample.directory, '--local', directory, '--commit'];
  const ran = await portolan(directory, ...words, 'addition');
  expect(ran.exit, ran.err).toBe(0);
  expect(ran.out).toContain(`commit  ${sample.addition}`);
  const mapping = readFileSync(join(directory, 'documents/v4.20/mapping.txt'), 'utf8');
  expect(mapping).toContain('mirror.example.com/olm');
  expect(existsSync(join(directory, 'registry/oci-layout'))).toBe(true);
  // The oldest of three commits last, from a new clone.
  const last = sample.commit({ 'README.md': 'x' }, { parents: [sample.addition], branch: 'last' });
  const other = folder();
  const fresh = (commit: string) => {
    const clone = join(folder(), 'clone');
    execFileSync('git', ['clone', '--quiet', sample.directory, clone]);
    return portolan(other, 'publish', '--repo', clone, '--local', other, '--commit', commit);
  };
  for (const commit of [sample.base, last, sample.base]) expect((await fresh(commit)).exit, commit).toBe(0);
  expect((await fresh(sample.base)).out).toMatch(new RegExp(`commit {2}(?:${last}|${sample.addition})`));
  // Older, and the same again: nothing changes.
  expect((await portolan(directory, ...words, 'main')).out).toContain(`commit  ${sample.addition}`);
  expect((await portolan(directory, ...words, 'addition')).out).toBe(ran.out);
  const status = await portolan(directory, 'status', directory);
  expect(status).toMatchObject({ exit: 0, out: ran.out });
  const json = (await portolan(directory, 'status', directory, '--json')).out;
  const answer = JSON.stringify(JSON.parse(json));
  expect((await runCommand(['status', '--from', '-'], { input: async () => answer })).out).toBe(ran.out);
});

test.each([['--catalog', 'v4.20'], ['--also', 'quay.io/acme/catalog:v1'], ['--sbom']])(
  '%s has no effect, and is refused',
  async (...option) => {
    const directory = folder();
    const words = ['publish', '--repo', sample.directory, '--local', directory, ...option];
    expect(await portolan(directory, ...words)).toMatchObject({
      exit: 2,
      err: expect.stringContaining(`${option[0]} has no effect with --local`),
    });
  },
);

test("a base image is read through the policy's mirrors, and is missing without them", async () => {
  const mirror = await registry();
  const at = parseReference(`${mirror.host}/copies/base:v1`);
  const image = sampleImage({ architectures: ['amd64'], layers: ['base'] });
  await pushImage(testClient([mirror.host]), at, { image });
  const mirrors = `    mirrors: [{source: base.invalid/org, mirrors: ['${mirror.host}/copies'], mirrorSourcePolicy: NeverContactSource}]`;
  const publish = async (branch: string, registries: string) => {
    const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
registries:
    allow: [base.invalid]
    internal: ['${mirror.host}']
${registries}
publish:
  catalogs:
    '*': {image: 'quay.invalid/acme/{catalog}:v1', base: 'base.invalid/org/base:v1'}
`;
    sample.commit({ '.github/portolan.yaml': policy }, { parents: [sample.base], branch });
    const words = ['--local', folder(), '--commit', branch, '--insecure', mirror.host];
    return portolan(folder(), 'publish', '--repo', sample.directory, ...words);
  };
  const ran = await publish('mirrored', mirrors);
  expect(ran.exit, ran.err + ran.out).toBe(0);
  expect(mirror.seen.some(({ url: path }) => path.startsWith('/v2/copies/base/blobs/'))).toBe(true);
  const requests = mirror.seen.length;
  expect((await publish('unmirrored', '')).exit).not.toBe(0);
  expect(mirror.seen.length).toBe(requests);
}, 60_000);

test('nothing is sent to a registry that the policy names, for further tags and slim images neither', async () => {
  const { host, seen } = await registry();
  const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
registries: {internal: ['${host}']}
publish:
  catalogs:
    '*': {image: '${host}/acme/{catalog}:v1', also: ['${host}/more/of-{catalog}:new', 'acme/{catalog}:v1'], slim: 'docker://${host}/slim/all:{catalog}'}
`;
  sample.commit({ '.github/portolan.yaml': policy }, { parents: [sample.base], branch: 'further' });
  const words = ['--local', folder(), '--commit', 'further', '--insecure', host];
  const ran = await portolan(folder(), 'publish', '--repo', sample.directory, ...words);
  expect(ran.exit, ran.err + ran.out).toBe(0);
  expect(seen).toEqual([]);
}, 60_000);

test('a commit with errors is merged, not published: status says why, with exit code 1', async () => {
  const directory = folder();
  const path = 'catalogs/v4.20/ferry-operator/catalog.yaml';
  const broken = sample.commit(
    { [path]: 'schema: olm.package\n' },
    { parents: [sample.base], branch: 'broken' },
  );
  const words = ['publish', '--repo', sample.directory, '--local', directory, '--commit'];
  expect((await portolan(directory, ...words, 'main')).exit).toBe(0);
  const ran = await portolan(directory, ...words, 'broken');
  expect(ran).toMatchObject({ exit: 1, out: expect.stringContaining(`refused ${broken}: package/name`) });
  expect(ran.out).toContain(`commit  ${sample.base}`);
});

test('a policy that publishes nothing, and a directory that is not there, are said to be that', async () => {
  const directory = folder();
  const none = sample.commit({ '.github/portolan.yaml': null }, { parents: [sample.base], branch: 'none' });
  const words = ['publish', '--repo', sample.directory, '--local', 'local', '--commit', none];
  expect(await portolan(directory, ...words)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('the policy does not publish any catalog\n  add publish: '),
  });
  expect(existsSync(join(directory, 'local'))).toBe(false);
  expect(await portolan(directory, 'status', 'local')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('no such directory\n  use the directory of portolan publish --local DIR\n'),
  });
});

test('188: places on two hosts that the local registry would merge are refused before anything is written', async () => {
  const ferry = 'ferry-operator/catalog.yaml';
  const second = { [`catalogs/v4.19/${ferry}`]: sampleFiles()[`catalogs/v4.20/${ferry}`] ?? '' };
  const publish = async (...catalogs: readonly string[]) => {
    const directory = folder();
    const policy = `apiVersion: portolan/v1alpha1
kind: Portolan
publish:
  catalogs: {${catalogs.join(', ')}}
`;
    const files = { ...second, '.github/portolan.yaml': policy };
    const commit = sample.commit(files, { parents: [sample.base], branch: 'hosts' });
    const words = ['publish', '--repo', sample.directory, '--local', 'local', '--commit', commit];
    return { ...(await portolan(directory, ...words)), isWritten: existsSync(join(directory, 'local')) };
  };
  const refused = (one: string, other: string) => ({
    exit: 2,
    err: expect.stringContaining(
      `quay.invalid/acme/i:t (${one}) and ghcr.invalid/acme/i:t (${other}) are both acme/i:t`,
    ),
    isWritten: false,
  });
  expect(
    await publish('v4.19: {image: "quay.invalid/acme/i:t"}', 'v4.20: {image: "ghcr.invalid/acme/i:t"}'),
  ).toMatchObject(refused('v4.19', 'v4.20'));
  expect(
    await publish('v4.20: {image: "quay.invalid/acme/i:t", slim: "ghcr.invalid/acme/i:t"}'),
  ).toMatchObject(refused('v4.20', 'v4.20 for OLM v1'));
  // One image for both hosts loses nothing, nor do two tags.
  const apart = await publish(
    'v4.19: {image: "quay.invalid/acme/i:old"}',
    'v4.20: {image: "quay.invalid/acme/i:t", also: ["ghcr.invalid/acme/i:t"]}',
  );
  expect(apart.exit, apart.err).toBe(0);
}, 60_000);

test('a status that is none', async () => {
  const ran = await runCommand(['status', '--from', '-'], { input: async () => '{}' });
  expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining('standard input is not a status') });
});
