import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reference } from '../../../../catalog/reference.ts';
import { createRegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../fakes/folder.ts';
import { reply, startHost } from '../../../fakes/host.ts';
import { sampleImage } from '../../../fakes/image.ts';
import { withoutWaiting } from '../../../fakes/no-waiting.ts';
import { registry, type TestRegistry } from '../../../fakes/registry.ts';
import { portolan } from '../../../fakes/terminal.ts';

/** Puts a list of two platforms behind a tag; gives its digest. */
async function push({ host }: TestRegistry, repository: string, tag: string, content = 'x'): Promise<string> {
  const client = createRegistryClient({ plainHttp: [host], internal: [host] });
  const image = sampleImage({ layers: [content], architectures: ['amd64', 'arm64'] });
  const reference: Reference = { kind: 'tag', registry: host, repository, tag };
  await pushImage(client, reference, { image });
  client.close();
  return image.root.digest;
}

function catalog(text: string): string {
  const root = folder();
  mkdirSync(join(root, 'etcd'));
  writeFileSync(join(root, 'etcd', 'catalog.yaml'), text);
  return root;
}

const bundle = (image: string, related: string): string => `# the catalog
schema: olm.bundle
name: etcd.v1
package: etcd
image: ${image}   # ours
relatedImages:
- {name: tool, image: "${related}"}
`;

const pathOf = (root: string): string => join(root, 'etcd', 'catalog.yaml');

test('tags are pinned in place, and the lock holds what they stood for', async () => {
  const far = await registry();
  const { host } = far;
  const a = await push(far, 'org/etcd', 'v1');
  const b = await push(far, 'org/tool', 'latest', 'tool');
  const root = catalog(bundle(`${host}/org/etcd:v1`, `${host}/org/tool`));
  const lock = join(folder(), 'lock.json');
  const ran = await portolan(root, 'resolve', '.', '--lock', lock, '--write', '--insecure', host);
  expect(ran).toMatchObject({ exit: 0, out: '' });
  expect(ran.err).toContain('resolved 2 of 2 references (used in 2 places)');
  expect(readFileSync(pathOf(root), 'utf8')).toBe(`# the catalog
schema: olm.bundle
name: etcd.v1
package: etcd
image: ${host}/org/etcd@${a} # v1   # ours
relatedImages:
- {name: tool, image: "${host}/org/tool@${b}"} # latest
`);
  expect(JSON.parse(readFileSync(lock, 'utf8')).references).toEqual({
    [`${host}/org/etcd:v1`]: a,
    [`${host}/org/tool:latest`]: b,
  });
  // Again: nothing to do, and nothing done.
  const again = await portolan(root, 'resolve', '.', '--lock', lock, '--write', '--insecure', host);
  expect(again).toMatchObject({ exit: 0, out: '' });
  expect(again.err).not.toContain('wrote');
});

test('a tag that moved is a finding, pinned or not; --update takes the new image', async () => {
  const far = await registry();
  const { host } = far;
  const old = await push(far, 'org/etcd', 'v1');
  const root = catalog(bundle(`${host}/org/etcd:v1`, `${host}/org/etcd@${old}`));
  const run = (...more: string[]) =>
    portolan(root, 'resolve', '.', '--lock', 'lock.json.txt', '--insecure', host, ...more);
  writeFileSync(join(root, '.indexignore'), 'lock.json.txt\n');
  await run();
  const fresh = await push(far, 'org/etcd', 'v1', 'moved');
  const { exit, out } = await run();
  expect(exit).toBe(0);
  expect(out).toContain('etcd/catalog.yaml:5:8: warning:');
  expect(out).toContain(`it was ${old}, it is ${fresh} now (image/tag-moved)`);
  expect(out).toContain('etcd/catalog.yaml:7:23: info:');
  // The lock holds against the registry until it is told otherwise.
  expect(readFileSync(join(root, 'lock.json.txt'), 'utf8')).toContain(old);
  await run('--write');
  expect(readFileSync(pathOf(root), 'utf8')).toContain(`image: ${host}/org/etcd@${old} # v1   # ours`);
  // Clusters have the old image under the same name.
  const refused = await run('--write', '--update');
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('(graph/bundle-mutated)') });
  expect(readFileSync(pathOf(root), 'utf8')).not.toContain(fresh);
  await run('--write', '--update', '--accept-stranding');
  expect(readFileSync(pathOf(root), 'utf8')).not.toContain(old);
  expect(readFileSync(pathOf(root), 'utf8').split(fresh)).toHaveLength(3);
});

test('a tag that does not exist is a finding on its line, and nothing is written', async () => {
  const far = await registry();
  await push(far, 'org/etcd', 'v1');
  const text = bundle(`${far.host}/org/etcd:v1`, `${far.host}/org/etcd:v2`);
  const root = catalog(text);
  const ran = await portolan(root, 'resolve', '.', '--write', '--lock', 'lock', '--insecure', far.host);
  expect(ran.exit).toBe(1);
  expect(ran.out).toContain(
    `etcd/catalog.yaml:7:23: error: bundle "etcd.v1": the related image "${far.host}/org/etcd:v2" does not exist`,
  );
  expect(readFileSync(pathOf(root), 'utf8')).toBe(text);
  expect(ran.err).not.toContain('wrote');
});

test('a registry that does not respond is said once, with exit code 2', async () => {
  withoutWaiting();
  const root = catalog(bundle('127.0.0.1:1/org/etcd:v1', '127.0.0.1:1/org/etcd:v2'));
  const ran = await portolan(root, 'resolve', '.', '--insecure', '127.0.0.1:1');
  expect(ran.exit).toBe(2);
  expect(ran.err).toMatch(
    /^portolan: .*127\.0\.0\.1:1.* \(and 1 more reference to 127\.0\.0\.1:1\)\nINCONCLUSIVE/,
  );
});

test('only what the policy allows is asked', async () => {
  const far = await registry();
  const digest = await push(far, 'org/etcd', 'v1');
  const before = far.seen.length;
  const root = catalog(bundle(`${far.host}/org/etcd:v1`, `${far.host}/other/etcd:v1`));
  const policy = join(folder(), 'policy.yaml');
  writeFileSync(
    policy,
    `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: ['${far.host}/org']}\n`,
  );
  const ran = await portolan(root, 'resolve', '.', '--policy', policy, '--insecure', far.host, '--json');
  expect(ran.exit).toBe(1);
  const { lookups, findings } = JSON.parse(ran.out);
  expect(lookups).toEqual([
    { reference: `${far.host}/org/etcd:v1`, kind: 'found', digest, isList: true },
    { reference: `${far.host}/other/etcd:v1`, kind: 'not-allowed' },
  ]);
  expect(findings[0]).toMatchObject({ rule: 'image/registry', location: { line: 7, column: 23 } });
  expect(far.seen.slice(before).filter(({ url }) => url.includes('other'))).toEqual([]);
});

test('an internal address is not asked unless it was named', async () => {
  const far = await registry();
  const before = far.seen.length;
  const root = catalog(bundle(`${far.host}/org/etcd:v1`, `${far.host}/org/etcd:v1`));
  const ran = await portolan(root, 'resolve', '.');
  expect(ran).toMatchObject({ exit: 2, out: '' });
  expect(ran.err).toContain(
    `portolan: ${far.host} is on an internal network\n  if Portolan may connect to it: --internal ${far.host}, or`,
  );
  expect(far.seen).toHaveLength(before);
});

test.each([
  [
    'on an internal network',
    'https://10.0.0.1/token',
    '10.0.0.1 is on an internal network',
    '--internal 10.0.0.1',
  ],
  [
    'without TLS',
    'http://127.0.0.1:1/token',
    'http://127.0.0.1:1 is not contacted because it does not use HTTPS',
    '--insecure 127.0.0.1:1',
  ],
])('a token service %s is reported once for its registry', async (_, realm, cause, option) => {
  const { host } = await startHost((_request, response) =>
    reply(response, 401, '', { 'www-authenticate': `Bearer realm="${realm}",service="x"` }),
  );
  const related = Array.from({ length: 9 }, (__, i) => bundle(`${host}/org/a:v${i}`, `${host}/org/b:v${i}`));
  const root = catalog(related.map((text, i) => text.replaceAll('etcd.v1', `etcd.v${i}`)).join('---\n'));
  const ran = await portolan(root, 'resolve', '.', '--insecure', host);
  expect(ran).toMatchObject({ exit: 2, out: '' });
  expect(ran.err.split(cause)).toHaveLength(2);
  expect(ran.err).toContain(`(and 17 more references to ${host})\n`);
  expect(ran.err).toContain(option);
});

test('an unknown rule of a policy is reported: what it should do would not be done', async () => {
  const root = folder({ 'catalog.yaml': 'schema: olm.package\nname: a\n' });
  const text = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {image/digst: error}\n';
  const policy = join(folder({ 'policy.yaml': text }), 'policy.yaml');
  const { exit, err } = await portolan(root, 'resolve', '.', '--policy', policy);
  expect(exit).toBe(2);
  expect(err).toContain('unknown rule "image/digst"');
});

test('what a policy does not allow is a finding, and what it allows but cannot be reached is not', async () => {
  const far = await registry();
  const root = catalog(bundle(`${far.host}/org/etcd:v1`, 'quay.example/org/etcd:v1'));
  const policy = join(folder(), 'policy.yaml');
  writeFileSync(
    policy,
    `apiVersion: portolan/v1alpha1\nkind: Portolan\nregistries: {allow: ['${far.host}']}\n`,
  );
  const ran = await portolan(root, 'resolve', '.', '--policy', policy);
  expect(ran.exit).toBe(2);
  expect(ran.out.match(/image\/registry/g)).toHaveLength(1);
  expect(ran.out).toContain('allow: [quay.example]');
  expect(ran.err).toContain(`${far.host} is on an internal network`);
});

test('digests are looked up when that is wanted', async () => {
  const far = await registry();
  const digest = await push(far, 'org/etcd', 'v1');
  const gone = `sha256:${'0'.repeat(64)}`;
  const root = catalog(bundle(`${far.host}/org/etcd@${digest}`, `${far.host}/org/etcd@${gone}`));
  expect((await portolan(root, 'resolve', '.', '--insecure', far.host)).exit).toBe(0);
  const ran = await portolan(root, 'resolve', '.', '--digests', '--insecure', far.host);
  expect(ran.exit).toBe(1);
  expect(ran.out).toContain('etcd/catalog.yaml:7:23: error');
  expect(ran.out).toContain('(image/digest-missing)');
});

test('what lies behind a link is not written', async () => {
  const far = await registry();
  await push(far, 'org/etcd', 'v1');
  const text = bundle(`${far.host}/org/etcd:v1`, `${far.host}/org/etcd:v1`);
  const elsewhere = catalog(text);
  const root = folder();
  symlinkSync(pathOf(elsewhere), join(root, 'catalog.yaml'));
  const ran = await portolan(root, 'resolve', '.', '--write', '--insecure', far.host);
  expect(ran.exit).toBe(2);
  expect(ran.err).toContain('is a symbolic link: nothing was written');
  expect(readFileSync(pathOf(elsewhere), 'utf8')).toBe(text);
});

test('a broken lock is not taken for an empty one', async () => {
  const root = catalog(bundle('quay.io/org/etcd:v1', 'quay.io/org/etcd:v1'));
  writeFileSync(join(root, 'lock'), '{}');
  const ran = await portolan(root, 'resolve', 'etcd', '--lock', 'lock');
  expect(ran).toMatchObject({ exit: 2, out: '' });
  expect(ran.err).toContain('is not a valid lock file: it must be an object');
});

test('bundle directories: every place of the ClusterServiceVersion that names an image', async () => {
  const far = await registry();
  const { host } = far;
  const a = await push(far, 'org/etcd', 'v1');
  const b = await push(far, 'org/tool', 'v2', 'tool');
  const root = folder();
  const csv = (
    etcd: string,
    tool: string,
    note: [string, string],
  ): string => `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: etcd.v1
  annotations:
    containerImage: ${host}/org/etcd${etcd}${note[0]}
    other: ${host}/org/etcd:v9
spec:
  relatedImages:
  - {name: tool, image: ${host}/org/tool${tool}}${note[1]}
  install:
    spec:
      deployments:
      - name: etcd
        spec:
          template:
            spec:
              initContainers:
              - name: init
                image: "${host}/org/tool${tool}"${note[1]}
              containers:
              - name: manager
                image: ${host}/org/etcd${etcd}${note[0]}
                env:
                - name: RELATED_IMAGE_TOOL
                  value: ${host}/org/tool${tool}${note[1]} # keep
                - {name: OTHER, value: '${host}/org/tool:v9'}
`;
  for (const room of ['manifests', 'metadata'])
    mkdirSync(join(root, 'etcd', '1.0.0', room), { recursive: true });
  const file = join(root, 'etcd', '1.0.0', 'manifests', 'csv.yaml');
  writeFileSync(join(root, 'etcd', 'ci.yaml'), 'reviewers: [anna]\n');
  writeFileSync(join(root, 'etcd', '1.0.0', 'metadata', 'annotations.yaml'), 'annotations: {}\n');
  writeFileSync(
    join(root, 'etcd', '1.0.0', 'manifests', 'service.yaml'),
    'kind: Service\nimage: quay.io/x:v1\n',
  );
  writeFileSync(file, csv(':v1', ':v2', ['', '']));
  const ran = await portolan(root, 'resolve', 'etcd', '--write', '--insecure', host);
  expect(ran).toMatchObject({ exit: 0, out: '' });
  expect(readFileSync(file, 'utf8')).toBe(csv(`@${a}`, `@${b}`, [' # v1', ' # v2']));
});
