/** What a pull request makes the functions ask, where the gate runs as an App. */
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { type GateRequest, handleGate } from '../../functions/gate.ts';
import { openGitHub } from '../../pipeline/github/client.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import type { ClientOptions } from '../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import type { CredentialSource } from '../../pipeline/ports.ts';
import { bundle, documents, POLICY } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { listen, type Respond, reply, startHost, testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';

let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(() => hub.close());

/** A service of the internal network: it must not even see a connection. */
async function inside() {
  let connections = 0;
  const server = createServer((_request, response) => reply(response, 200, 'the role’s credentials'));
  server.on('connection', () => connections++);
  const host = await listen(server);
  return { port: host.split(':')[1] ?? '', connections: () => connections };
}

const DIGEST = `sha256:${'0'.repeat(63)}2`;

/** Asks for an image in a new version of etcd; gives what people and machines are told of it. */
async function told(image: string, registries: object, options: ClientOptions = {}): Promise<string> {
  hub.moveBase({ [POLICY_PATH]: `${POLICY}registries: ${JSON.stringify(registries)}\n` });
  const entries = [
    { name: 'etcd.v1.0.0' },
    { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' },
    { name: 'etcd.v1.2.0', replaces: 'etcd.v1.1.0' },
  ];
  const text = documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    bundle('etcd', '1.0.0'),
    bundle('etcd', '1.1.0'),
    bundle('etcd', '1.2.0', { image }),
  );
  const pull = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': text });
  const request: GateRequest = {
    forge: gitHubForge({
      github: openGitHub({
        url: hub.forge.url,
        identity: { kind: 'token', token: TOKEN },
        log: () => undefined,
      }),
      repository: { owner: 'example', repo: 'catalogs' },
    }),
    source: { url: `${hub.forge.url}/example/catalogs.git` },
    token: TOKEN,
    git: { searchPath: process.env['PATH'] },
    registries: {
      retry: { attempts: 2, firstWait: 1, longestWait: 2, budget: 2000 },
      timeouts: { silence: 500, answer: 500, pause: 500 },
      ...options,
    },
    now: new Date('2026-01-01T00:00:00Z'),
    log: () => undefined,
  };
  const outcome = await handleGate(pull.number, request);
  if (outcome.kind !== 'checked') throw new Error(outcome.why);
  return JSON.stringify([outcome.report, hub.forge.statuses.at(-1), [...hub.forge.comments.values()].at(-1)]);
}

/** Every name is an address of loopback, or what is said of it. */
function names(known: Readonly<Record<string, string>> = {}): ClientOptions {
  return { resolver: async (name) => [{ address: known[name] ?? '127.0.0.1', family: 4 }] };
}

describe('attack 36: a reference to an internal address', () => {
  test.each([['127.0.0.1'], ['localhost'], ['169.254.169.254'], ['2130706433'], ['evil.example']])(
    '%s is not connected to, whatever the policy lets be asked',
    async (name) => {
      const service = await inside();
      const plainHttp = [`${name}:${service.port}`];
      const said = await told(
        `${name}:${service.port}/a@${DIGEST}`,
        { allow: ['*'] },
        { ...names({ '169.254.169.254': '169.254.169.254' }), plainHttp },
      );
      // Whether the image exists is not known, so the pull request does not pass.
      expect(said).toContain('"verdict":"inconclusive"');
      expect(service.connections()).toBe(0);
    },
  );

  test('a host that the policy does not name is not even looked up', async () => {
    const asked: string[] = [];
    const resolver: ClientOptions['resolver'] = async (name) => {
      asked.push(name);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const said = await told(`canary.evil.example/a@${DIGEST}`, { allow: ['quay.io'] }, { resolver });
    expect(said).toContain('image/registry');
    expect(asked).not.toContain('canary.evil.example');
  });
});

describe('attack 37: what an allowed registry points at', () => {
  test.each<[string, (target: string) => Respond]>([
    [
      'a token realm',
      (target) => (_request, response) =>
        reply(response, 401, '', { 'www-authenticate': `Bearer realm="${target}/token"` }),
    ],
    [
      'a redirect',
      (target) => (request, response) =>
        reply(response, request.url === '/v2/' ? 200 : 307, '', { location: `${target}/x` }),
    ],
  ])(
    '%s that points inside is not followed, and does not tell open ports from closed ones',
    async (_, to) => {
      const service = await inside();
      const said: string[] = [];
      for (const port of [service.port, '1']) {
        const front = await startHost(to(`https://inner.example:${port}`));
        const registries = { allow: [front.host], internal: [front.host] };
        const options = { ...names(), plainHttp: [front.host] };
        const all = await told(`${front.host}/a@${DIGEST}`, registries, options);
        const why = /"why":"[^"]*"/.exec(all)?.[0] ?? all;
        said.push(why.replaceAll(front.host, 'HOST').replaceAll(port, 'PORT'));
        expect(front.asked.length).toBeGreaterThan(0);
      }
      expect(service.connections()).toBe(0);
      expect(said[0]).toBe(said[1]);
    },
  );
});

describe('attack 38: whether a private image exists', () => {
  const all: CredentialSource = {
    credential: async () => ({ kind: 'basic', username: 'pipeline', password: 'secret' }),
  };

  test('is not told: the role’s own credentials are used where the policy names them, nowhere else', async () => {
    const real = await registry({ access: { kind: 'token', accounts: { pipeline: 'secret' } } });
    const image = sampleImage();
    const there = parseReference(`${real.host}/private/a:v1`);
    await pushImage(testClient([real.host], { credentials: all }), there, { image });
    const before = real.seen.length;
    const options = { credentials: all, plainHttp: [real.host] };
    const registries = { allow: ['*'], internal: [real.host], credentials: ['quay.io'] };
    const said: string[] = [];
    for (const digest of [image.root.digest, DIGEST]) {
      const told38 = await told(`${real.host}/private/a@${digest}`, registries, options);
      said.push(/"why":"[^"]*"/.exec(told38)?.[0].replaceAll(digest, 'DIGEST') ?? told38);
      expect(told38).not.toContain('secret');
    }
    expect(said[0]).toBe(said[1]);
    const answered = real.seen
      .slice(before)
      .filter(({ url, status }) => url.includes('/private/') && status !== 401);
    expect(answered).toEqual([]);
  });
});
