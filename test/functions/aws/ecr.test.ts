/** ECR's repositories and the names of its registries, by what its API is asked. */
import { afterEach, expect, test, vi } from 'vitest';
import { makingRepositories } from '../../../functions/aws/ecr.ts';
import { ecrHost } from '../../../functions/ecr/credentials.ts';
import { PipelineError } from '../../../pipeline/error.ts';
import { digestOf } from '../../../pipeline/oci/digest.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { type Host, reply, startHost } from '../../fakes/host.ts';

afterEach(() => void vi.unstubAllEnvs());

test.each([
  ['123456789012.dkr.ecr.us-east-1.amazonaws.com', 'us-east-1'],
  ['123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1'],
  ['123456789012.dkr-ecr.eu-west-1.on.aws', 'eu-west-1'],
  ['123456789012.dkr-ecr-fips.us-east-1.on.aws', 'us-east-1'],
  ['123456789012.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn', 'cn-north-1'],
])('%s is of ECR', (registry, region) =>
  expect(ecrHost(registry)).toEqual({ account: '123456789012', region }),
);

test.each([
  ['public.ecr.aws'],
  ['123456789012.dkr-ecr.eu-west-1.on.aws.evil.example'],
  ['123456789012.dkr-ecr.eu-west-1.on.evil.example'],
  ['x123456789012.dkr.ecr.us-east-1.amazonaws.com'],
])('%s is not', (registry) => expect(ecrHost(registry)).toBeUndefined());

/** An account of ECR without repositories, until they are made. */
async function ecr(): Promise<{ host: Host; calls: () => [string, object][] }> {
  const there = new Set<string>();
  const host = await startHost(({ headers, body }, response) => {
    const action = String(headers['x-amz-target']).split('.')[1];
    const { repositoryNames, repositoryName } = JSON.parse(body.toString());
    const json = { 'content-type': 'application/x-amz-json-1.1' };
    if (action === 'CreateRepository') {
      there.add(repositoryName);
      return reply(response, 200, '{"repository":{}}', json);
    }
    if (there.has(repositoryNames[0])) return reply(response, 200, '{"repositories":[{}]}', json);
    reply(response, 400, '{"__type":"RepositoryNotFoundException"}', json);
  });
  vi.stubEnv('AWS_ENDPOINT_URL', host.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const calls = (): [string, object][] =>
    host.asked.map(({ headers, body }) => [
      String(headers['x-amz-target']).split('.')[1] ?? '',
      JSON.parse(body.toString()),
    ]);
  return { host, calls };
}

const to = { registry: '123456789012.dkr.ecr.us-east-1.amazonaws.com', repository: 'sea/catalog' };
const blob = { digest: digestOf(new Uint8Array()), size: 0, open: async function* () {} };

test('a repository is made in the account that the registry names, or nowhere', async () => {
  const { calls } = await ecr();
  const registry = makingRepositories({ putBlob: async () => 'uploaded' } as Partial<Registry> as Registry);
  await registry.putBlob(to, blob);
  await registry.putBlob(to, blob);
  expect(calls()).toEqual([
    ['DescribeRepositories', { registryId: '123456789012', repositoryNames: ['sea/catalog'] }],
    [
      'CreateRepository',
      { registryId: '123456789012', repositoryName: 'sea/catalog', imageTagMutability: 'MUTABLE' },
    ],
  ]);
});

test('a repository that was removed is looked for anew, also by a function that has made it', async () => {
  const { calls } = await ecr();
  let isGone = false;
  const putBlob = async () => {
    if (isGone) throw new PipelineError('not-found', 'name unknown');
    return 'uploaded' as const;
  };
  const registry = makingRepositories({ putBlob } as Partial<Registry> as Registry);
  await registry.putBlob(to, blob);
  isGone = true;
  await expect(registry.putBlob(to, blob)).rejects.toMatchObject({ code: 'not-found' });
  const before = calls().length;
  isGone = false;
  await registry.putBlob(to, blob);
  expect(calls().slice(before)).toMatchObject([['DescribeRepositories', {}]]);
});

/** A repository of ECR with a lifecycle policy, or without one. */
async function lifecycle(standing?: string) {
  const written: string[] = [];
  const host = await startHost(({ headers, body }, response) => {
    const json = { 'content-type': 'application/x-amz-json-1.1' };
    if (String(headers['x-amz-target']).endsWith('.PutLifecyclePolicy')) {
      standing = JSON.parse(body.toString()).lifecyclePolicyText as string;
      written.push(standing);
    }
    if (standing === undefined)
      return reply(response, 400, '{"__type":"LifecyclePolicyNotFoundException"}', json);
    reply(response, 200, JSON.stringify({ lifecyclePolicyText: standing }), json);
  });
  vi.stubEnv('AWS_ENDPOINT_URL', host.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  return { registry: makingRepositories({} as Registry), written };
}

test("ECR's rules keep what tags name, then the newest of each catalog; the same rules are written once", async () => {
  const { registry, written } = await lifecycle();
  const rules = [
    { tag: 'v4.19', keep: undefined },
    { tag: 'v4.20', keep: 20 },
  ];
  expect(await registry.keepImages?.(to, rules)).toBe(true);
  expect(await registry.keepImages?.(to, rules)).toBe(true);
  expect(written).toHaveLength(1);
  interface Rule {
    readonly rulePriority: number;
    readonly selection: { readonly tagPatternList: readonly string[]; readonly countNumber: number };
  }
  const selected = (JSON.parse(written[0] ?? '').rules as Rule[]).map(({ rulePriority, selection }) => [
    rulePriority,
    ...selection.tagPatternList,
    selection.countNumber,
  ]);
  expect(selected).toEqual([
    [1, 'keep-*', 10_000],
    [2, 'v4.19', 1],
    [3, 'v4.20', 1],
    [4, 'v4.20-2*-*', 20],
  ]);
  await registry.keepImages?.(to, [{ tag: 'v4.20', keep: 5 }]);
  expect(written).toHaveLength(2);
});

test("a lifecycle policy that the repository's owner wrote stays; other registries have none", async () => {
  const { registry, written } = await lifecycle('{"rules":[{"rulePriority":1,"description":"ours"}]}');
  expect(await registry.keepImages?.(to, [{ tag: 'v4.20', keep: 5 }])).toBe(true);
  expect(written).toEqual([]);
  expect(await registry.keepImages?.({ ...to, registry: 'quay.io' }, [{ tag: 'v4.20', keep: 5 }])).toBe(
    false,
  );
});

test('a rule that somebody added beside those of Portolan is not lost', async () => {
  const { registry: first, written: own } = await lifecycle();
  await first.keepImages?.(to, [{ tag: 'v4.20', keep: 5 }]);
  const policy = JSON.parse(own[0] ?? '');
  policy.rules.push({ rulePriority: 99, description: 'untagged' });
  const { registry, written } = await lifecycle(JSON.stringify(policy));
  expect(await registry.keepImages?.(to, [{ tag: 'v4.20', keep: 6 }])).toBe(true);
  expect(written).toEqual([]);
});

test('more tags than ECR has rules for are refused with the number', async () => {
  const { registry, written } = await lifecycle();
  const rules = Array.from({ length: 25 }, (_, i) => ({ tag: `v4.${i}`, keep: 5 }));
  await expect(registry.keepImages?.(to, rules)).rejects.toThrow('needs 51 rules, but ECR allows 50');
  expect(written).toEqual([]);
});
