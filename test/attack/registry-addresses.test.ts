/** What a name that a pull request brought could make us ask, and tell. */

import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { type ClientOptions, createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { credentialsOnlyFor } from '../../pipeline/oci/registry/credentials.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import type { CredentialSource, Repository } from '../../pipeline/ports.ts';
import { listen, type Respond, reply, startHost, testClient } from '../fakes/host.ts';
import { bytesOf, sampleImage, source } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';

/** A service of the internal network: it must not even see a connection. */
async function inside() {
  let connections = 0;
  const server = createServer((_request, response) => reply(response, 200, 'the instance’s credentials'));
  server.on('connection', () => connections++);
  const host = await listen(server);
  return { host, port: host.split(':')[1] ?? '', connections: () => connections };
}

/** A client for which only the named hosts may be internal; every other name is looked up in `names`. */
function gateClient(
  allowed: readonly string[],
  options: ClientOptions & { names?: Record<string, string[]> } = {},
) {
  const { names = {}, ...rest } = options;
  const client = createRegistryClient({
    internal: allowed,
    plainHttp: allowed,
    retry: { attempts: 2, firstWait: 1, longestWait: 2, budget: 2000 },
    timeouts: { silence: 500, answer: 500, pause: 500 },
    resolver: async (name): Promise<LookupAddress[]> => {
      const next = names[name]?.shift() ?? '127.0.0.1';
      return [{ address: next, family: next.includes(':') ? 6 : 4 }];
    },
    ...rest,
  });
  onTestFinished(client.close);
  return client;
}

describe('attack 36: a reference to an internal address', () => {
  test.each([
    ['127.0.0.1'],
    ['localhost'],
    ['169.254.169.254'],
    ['10.0.0.1'],
    ['2130706433'],
    ['0x7f000001'],
    ['0177.0.0.1'],
    ['127.1'],
    ['metadata.google.internal'],
    ['evil.example'],
    ['127.0.0.1.nip.io'],
  ])('%s is not connected to', async (name) => {
    const service = await inside();
    // Whether it would be asked with TLS or without.
    for (const plainHttp of [[], [`${name}:${service.port}`]]) {
      const reference = {
        kind: 'tag',
        registry: `${name}:${service.port}`,
        repository: 'a',
        tag: 'v1',
      } as const;
      const asking = gateClient([], { plainHttp }).resolve(reference);
      await expect(asking).rejects.toMatchObject({ code: 'not-allowed', retryable: false });
    }
    expect(service.connections()).toBe(0);
  });

  test.each([['[::1]'], ['[::ffff:127.0.0.1]'], ['[fd00:ec2::254]'], ['[64:ff9b::a9fe:a9fe]']])(
    '%s neither',
    async (name) => {
      const service = await inside();
      const reference = {
        kind: 'tag',
        registry: `${name}:${service.port}`,
        repository: 'a',
        tag: 'v1',
      } as const;
      await expect(gateClient([]).resolve(reference)).rejects.toMatchObject({ code: 'not-allowed' });
      expect(service.connections()).toBe(0);
    },
  );

  test('a name that is public when it is looked at is internal never: each connection is looked at', async () => {
    const front = await startHost((_request, response) => {
      response.setHeader('connection', 'close');
      reply(response, 404);
    });
    const port = front.host.split(':')[1];
    const host = `rebind.example:${port}`;
    // Allowed by range at first; then the name moves to where it may not be.
    const client = gateClient([host], {
      internal: ['127.0.0.1/32'],
      plainHttp: [host],
      names: { 'rebind.example': ['127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.2'] },
    });
    await expect(client.resolve(parseReference(`${host}/a:v1`))).rejects.toMatchObject({
      code: 'not-allowed',
    });
    expect(front.asked).toHaveLength(1);
  });

  test('a host that the policy does not name is not even looked up', async () => {
    const looked: string[] = [];
    const client = gateClient([], {
      allows: ({ registry: host, repository }: Repository) =>
        host === 'quay.io' && repository.startsWith('org/'),
      resolver: async (name) => {
        looked.push(name);
        return [];
      },
    });
    for (const name of [
      'evil.example/a',
      'quay.io/other/a',
      'quay.io.evil.example/org/a',
      'quay.io/organization/a',
    ]) {
      const reference = parseReference(`${name}:v1`);
      const at = { registry: reference.registry, repository: reference.repository };
      const blob = source(Buffer.from('x'));
      const calls = [
        () => client.resolve(reference),
        () => client.getManifest(reference),
        () => client.hasBlob(at, blob.digest),
        () => bytesOf(client.getBlob(at, blob)),
        () => client.putBlob(at, blob),
        () => client.putManifest(reference, sampleImage().root),
        () => client.listReferrers(at, blob.digest),
        () => client.listTags(at)[Symbol.asyncIterator]().next(),
        () => client.deleteManifest(reference),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'not-allowed' });
    }
    expect(looked).toEqual([]);
    expect(client.traffic().size).toBe(0);
  });

  test('through a proxy what is internal is refused all the same', async () => {
    const service = await inside();
    const proxy = await inside();
    for (const name of ['evil.example', '127.0.0.9', '169.254.169.254']) {
      const client = gateClient([], {
        environment: { http_proxy: `http://${proxy.host}`, https_proxy: `http://${proxy.host}` },
        plainHttp: [`${name}:${service.port}`],
      });
      const reference = {
        kind: 'tag',
        registry: `${name}:${service.port}`,
        repository: 'a',
        tag: 'v1',
      } as const;
      await expect(client.resolve(reference)).rejects.toMatchObject({ code: 'not-allowed' });
    }
    expect([service.connections(), proxy.connections()]).toEqual([0, 0]);
  });
});

describe('attack 37: a realm, a redirect or a link that points inside', () => {
  const blob = source(Buffer.from('content'));

  test.each<[string, (target: string) => Respond]>([
    [
      'a token realm',
      (target) => (_request, response) =>
        reply(response, 401, '', { 'www-authenticate': `Bearer realm="${target}/token"` }),
    ],
    [
      'a redirect of a manifest',
      (target) => (request, response) =>
        reply(response, request.url === '/v2/' ? 200 : 307, '', { location: `${target}/x` }),
    ],
    [
      'a redirect of the greeting',
      (target) => (_request, response) => reply(response, 302, '', { location: `${target}/v2/` }),
    ],
    [
      'the realm of a host that a redirect led to',
      (target) => (request, response) => {
        if (request.url === '/v2/') return reply(response, 200);
        reply(response, 401, '', { 'www-authenticate': `Bearer realm="${target}/token",scope="x"` });
      },
    ],
  ])('%s is not followed', async (_, respond) => {
    const service = await inside();
    for (const target of [
      `http://127.0.0.1:${service.port}`,
      `https://evil.example:${service.port}`,
      `https://169.254.169.254`,
    ]) {
      const front = await startHost(respond(target));
      const looking = gateClient([front.host]).resolve(parseReference(`${front.host}/a:v1`));
      await expect(looking).rejects.toMatchObject({ code: 'not-allowed' });
    }
    expect(service.connections()).toBe(0);
  });

  test('nor the place of an upload, nor the next page of a list', async () => {
    const service = await inside();
    const target = `https://evil.example:${service.port}`;
    const front = await startHost((request, response) => {
      if (request.method === 'POST') return reply(response, 202, '', { location: `${target}/up` });
      if (request.url.includes('/tags/'))
        return reply(response, 200, '{"tags":["a"]}', { link: `<${target}/t>; rel="next"` });
      reply(response, request.url === '/v2/' ? 200 : 404);
    });
    const client = gateClient([front.host]);
    const at = { registry: front.host, repository: 'a' };
    await expect(client.putBlob(at, blob)).rejects.toMatchObject({ code: 'not-allowed' });
    const listing = async () => {
      for await (const tag of client.listTags(at)) expect(tag).toBe('a');
    };
    await expect(listing()).rejects.toMatchObject({ code: 'bad-answer' });
    expect(service.connections()).toBe(0);
  });

  test('what the refusal says does not tell an open port from a closed one', async () => {
    const service = await inside();
    const messages: string[] = [];
    for (const port of [service.port, '1']) {
      const front = await startHost((_request, response) =>
        reply(response, 302, '', { location: `https://evil.example:${port}/` }),
      );
      const error = await gateClient([front.host])
        .resolve(parseReference(`${front.host}/a:v1`))
        .catch((caught: Error) => caught.message.replaceAll(port, 'PORT'));
      messages.push(String(error));
    }
    expect(messages[0]).toBe(messages[1]);
  });
});

describe('attack 38: whether a private image exists', () => {
  const accounts = { pipeline: 'secret' };
  const all: CredentialSource = {
    credential: async () => ({ kind: 'basic', username: 'pipeline', password: 'secret' }),
  };

  test.each(['basic', 'token'] as const)(
    'is not told where %s guards it: our eyes are not lent',
    async (kind) => {
      const real = await registry({ access: { kind, accounts } });
      await pushImage(
        testClient([real.host], { credentials: all }),
        parseReference(`${real.host}/private/a:v1`),
        {
          image: sampleImage(),
        },
      );
      const before = real.seen.length;
      const own = (repository: Repository) => repository.repository.startsWith('own/');
      const client = gateClient([real.host], { credentials: credentialsOnlyFor(all, own) });
      const told = async (name: string) => {
        const error = await client
          .resolve(parseReference(`${real.host}/${name}`))
          .catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: 'denied' });
        return String(error).replaceAll(name, 'NAME').replaceAll(name.replace(/:.*/, ''), 'NAME');
      };
      const exists = await told('private/a:v1');
      expect(await told('private/a:v2')).toBe(exists);
      expect(await told('private/b:v1')).toBe(exists);
      expect(await client.resolve(parseReference(`${real.host}/own/none:v1`))).toBeUndefined();
      const answered = real.seen
        .slice(before)
        .filter(({ url, status }) => url.includes('/private/') && status !== 401);
      expect(answered).toEqual([]);
    },
  );

  test('a credential never goes to another registry than its own', async () => {
    const evil = await startHost((_request, response) =>
      reply(response, 401, '', { 'www-authenticate': 'Basic realm="give"' }),
    );
    const ours: CredentialSource = {
      credential: async ({ registry: host }) =>
        host === 'quay.io' ? { kind: 'basic', username: 'u', password: 'secret' } : undefined,
    };
    const client = gateClient([evil.host], { credentials: ours });
    await expect(client.resolve(parseReference(`${evil.host}/quay.io/a:v1`))).rejects.toMatchObject({
      code: 'denied',
    });
    for (const { headers } of evil.asked) expect(headers.authorization).toBeUndefined();
  });
});
