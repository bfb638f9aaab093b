/** Credentials of registries in Secrets Manager. */
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { secretCredentials } from '../../../functions/aws/registry-secrets.ts';
import { ecrCredentials } from '../../../functions/ecr/credentials.ts';
import type { CredentialSource } from '../../../pipeline/ports.ts';
import { reply, startHost, testClient } from '../../fakes/host.ts';

const clock = { now: 0 };

/** Secrets by name, each kept until it is forgotten. */
function secrets(texts: Record<string, string>): { source: CredentialSource; reads: string[] } {
  const reads: string[] = [];
  const elsewhere = { credential: async () => ({ kind: 'bearer', token: 'of the file' }) as const };
  const source = secretCredentials('portolan/registries', elsewhere, {
    now: () => clock.now,
    readerOf: (name) => {
      let kept: string | undefined;
      return {
        read: async () => {
          if (kept === undefined) {
            reads.push(name);
            kept = texts[name];
          }
          return kept;
        },
        forget: () => {
          kept = undefined;
        },
      };
    },
  });
  return { source, reads };
}

test('each host has its own secret; a host without one has the credential of the file', async () => {
  const { source } = secrets({
    'portolan/registries/quay.io': '{"username": "me", "password": "pass"}',
    'portolan/registries/registry.example.com_5000': '{"token": "t"}',
  });
  const at = (registry: string) => source.credential({ registry, repository: 'sea/catalog' });
  expect(await at('quay.io')).toEqual({ kind: 'basic', username: 'me', password: 'pass' });
  expect(await at('registry.example.com:5000')).toEqual({ kind: 'bearer', token: 't' });
  expect(await at('ghcr.io')).toEqual({ kind: 'bearer', token: 'of the file' });
});

test('a secret that is not a credential is an error without a word of it', async () => {
  const { source } = secrets({ 'portolan/registries/quay.io': 'hunter2' });
  const error = await source.credential({ registry: 'quay.io', repository: 'a' }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'usage', message: 'the secret for quay.io is not a credential' });
});

/** A registry with one password at a time, which answers otherwise with a status. */
async function guarded(status: number) {
  const state = { password: 'old' };
  const host = await startHost(({ url, headers }, response) => {
    const proof = `Basic ${Buffer.from(`me:${state.password}`).toString('base64')}`;
    if (url === '/v2/') return reply(response, 401, '', { 'www-authenticate': 'Basic realm="r"' });
    if (headers.authorization !== proof) return reply(response, status, '{}');
    const type = 'application/vnd.oci.image.index.v1+json';
    reply(response, 200, '', { 'docker-content-digest': `sha256:${'0'.repeat(64)}`, 'content-type': type });
  });
  const asked = (): number => host.asked.filter(({ url }) => url !== '/v2/').length;
  return { host: new URL(host.url).host, state, asked };
}

test.each([401, 403])(
  'a rotated password is in use as soon as the old one is refused with %d',
  async (status) => {
    const { host, state, asked } = await guarded(status);
    const name = `portolan/registries/${host.replace(':', '_')}`;
    const texts = { [name]: '{"username": "me", "password": "old"}' };
    const { source, reads } = secrets(texts);
    const client = testClient([host], { credentials: source });
    const image = parseReference(`${host}/sea/catalog:v4.20`);
    expect(await client.resolve(image)).toBeDefined();
    state.password = 'new';
    texts[name] = '{"username": "me", "password": "new"}';
    expect(await client.resolve(image)).toBeDefined();
    expect(reads).toEqual([name, name]);
    expect(asked()).toBe(3);
    // Refused with what is in the secret: it is read once more, and the refusal is believed.
    state.password = 'newer';
    clock.now += 120_000;
    for (let time = 0; time < 3; time++)
      await expect(client.resolve(image)).rejects.toMatchObject({ code: 'denied' });
    expect(reads).toHaveLength(3);
  },
);

test('a token of ECR that is refused is replaced once, and not again within a minute', async () => {
  let made = 0;
  let now = 1_000_000;
  const client = {
    send: async () => {
      const authorizationToken = Buffer.from(`AWS:token ${++made}`).toString('base64');
      return { authorizationData: [{ authorizationToken, expiresAt: new Date(now + 43_200_000) }] };
    },
  };
  const elsewhere = { credential: async () => undefined };
  const source = ecrCredentials(
    elsewhere,
    () => new Date(now),
    () => client as never,
  );
  const of = { registry: '123456789012.dkr.ecr.us-east-1.amazonaws.com', repository: 'a' };
  const first = await source.credential(of);
  if (!first) throw new Error('a token');
  expect(await source.refused?.(of, first)).toBe(false);
  now += 120_000;
  expect(await source.refused?.(of, first)).toBe(true);
  expect(await source.credential(of)).toMatchObject({ password: 'token 2' });
  expect(await source.refused?.(of, first)).toBe(false);
  expect(made).toBe(2);
});
