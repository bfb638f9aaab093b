import { describe, expect, test } from 'vitest';
import { parseReference, type Reference } from '../../../catalog/reference.ts';
import { lookupKey } from '../../../catalog/references/site.ts';
import { lookUp } from '../../../pipeline/references/look-up.ts';
import { createRegistryClient, type RegistryClient } from '../../../pipeline/registry/client.ts';
import { pushImage } from '../../../pipeline/registry/push.ts';
import { type ImageOptions, sampleImage } from '../../fakes/image.ts';
import { registry, type TestRegistry } from '../../fakes/registry.ts';

function clientFor({ host }: TestRegistry): RegistryClient {
  return createRegistryClient({ plainHttp: [host], internal: [host], retry: { attempts: 1 } });
}

async function push(client: RegistryClient, name: string, options: ImageOptions): Promise<string> {
  const image = sampleImage(options);
  await pushImage(client, parseReference(name), { image });
  return image.root.digest;
}

test('each reference is asked for once, by HEAD', async () => {
  const far = await registry();
  const client = clientFor(far);
  const digest = await push(client, `${far.host}/org/a:v1`, {});
  const before = far.seen.length;
  const names = ['org/a:v1', 'org/a:v1', `org/a@${digest}`, `org/a:v1@${digest}`];
  const found = await lookUp(
    names.map((name) => parseReference(`${far.host}/${name}`)),
    { registry: client },
  );
  expect([...found]).toEqual([
    [`${far.host}/org/a:v1`, { kind: 'found', digest }],
    [`${far.host}/org/a@${digest}`, { kind: 'found', digest }],
  ]);
  expect(far.seen.slice(before).map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
});

describe('platforms', () => {
  test.each<[string, ImageOptions, string[]]>([
    ['a list names them', { architectures: ['arm64', 'amd64'] }, ['linux/amd64', 'linux/arm64']],
    [
      'so does one of Docker',
      { architectures: ['amd64', 's390x'], format: 'docker' },
      ['linux/amd64', 'linux/s390x'],
    ],
    ['a single image in its configuration', { architectures: ['ppc64le'] }, ['linux/ppc64le']],
  ])('%s', async (_, options, platforms) => {
    const far = await registry();
    const client = clientFor(far);
    const digest = await push(client, `${far.host}/org/a:v1`, options);
    const reference = parseReference(`${far.host}/org/a:v1`);
    const keys = new Set([lookupKey(reference)]);
    const found = await lookUp([reference], { registry: client, platforms: keys });
    expect([...found.values()]).toEqual([{ kind: 'found', digest, platforms }]);
    const absent = parseReference(`${far.host}/org/a:v2`);
    const none = await lookUp([absent], { registry: client, platforms: new Set([lookupKey(absent)]) });
    expect([...none.values()]).toEqual([{ kind: 'absent' }]);
  });
});

test('a registry that is silent is not asked for every image', async () => {
  const asked: string[] = [];
  const client = createRegistryClient({
    internal: ['gone.example'],
    retry: { attempts: 1 },
    resolver: async (name) => {
      asked.push(name);
      throw new Error('no such name');
    },
  });
  const references = Array.from(
    { length: 2000 },
    (_, i): Reference => ({ kind: 'tag', registry: 'gone.example', repository: 'org/a', tag: `v${i}` }),
  );
  const found = await lookUp(references, { registry: client });
  expect([...found.values()].every(({ kind }) => kind === 'unknown')).toBe(true);
  expect(asked.length).toBeLessThan(200);
});

test('what may not be asked is not, and what may not be seen is unknown', async () => {
  const far = await registry({
    access: { kind: 'token', accounts: { anna: 'x' } },
  });
  const client = clientFor(far);
  const references = [parseReference(`${far.host}/org/a:v1`), parseReference(`${far.host}/other/a:v1`)];
  const allows = ({ repository }: { repository: string }): boolean => repository.startsWith('org/');
  const [private_, refused] = [...(await lookUp(references, { registry: client, allows })).values()];
  expect(refused).toEqual({ kind: 'not-allowed' });
  expect(private_).toMatchObject({ kind: 'unknown', why: expect.stringContaining('org/a:v1') });
  expect(far.seen.filter(({ url }) => url.includes('other'))).toEqual([]);
});
