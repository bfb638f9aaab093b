/** Tokens of ECR for the role that the process has, as on Kubernetes with a role of the service account. */
import { ECRClient } from '@aws-sdk/client-ecr';
import { afterEach, expect, test, vi } from 'vitest';
import { ownRoleCredentials } from '../../../functions/ecr/credentials.ts';
import type { Credential, CredentialSource } from '../../../pipeline/ports.ts';
import { reply, startHost } from '../../fakes/host.ts';

afterEach(() => void vi.unstubAllEnvs());

const HOUR = 3_600_000;
const ECR = { registry: '123456789012.dkr.ecr.us-east-1.amazonaws.com', repository: 'sea/catalog' };
const QUAY = { registry: 'quay.io', repository: 'sea/catalog' };
const FILED: Credential = { kind: 'basic', username: 'me', password: 'filed' };

/** An API whose tokens count, and end after 12 hours. */
async function own(elsewhere: CredentialSource) {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const { url, asked } = await startHost((_, response) => {
    const authorizationToken = Buffer.from(`AWS:token-${asked.length}`).toString('base64');
    const expiresAt = (time + 12 * HOUR) / 1000;
    const json = { 'content-type': 'application/x-amz-json-1.1' };
    reply(response, 200, JSON.stringify({ authorizationData: [{ authorizationToken, expiresAt }] }), json);
  });
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const clientFor = (region: string) => new ECRClient({ region, endpoint: url });
  const source = ownRoleCredentials(elsewhere, () => new Date(time), clientFor);
  const password = async (of = ECR): Promise<string | undefined> => {
    const credential = await source.credential(of);
    return credential?.kind === 'basic' ? credential.password : undefined;
  };
  const later = (hours: number): void => {
    time += hours * HOUR;
  };
  return { source, password, later, asked };
}

test('a token is kept, and renewed before its 12 hours end', async () => {
  const { password, later, asked } = await own({ credential: async () => undefined });
  expect(await password()).toBe('token-1');
  later(11);
  expect(await password()).toBe('token-1');
  later(0.75);
  expect(await password()).toBe('token-2');
  expect(asked).toHaveLength(2);
});

test('credentials of the Secret win, and other registries are asked for none', async () => {
  let filed: Credential | undefined = FILED;
  const { password, asked } = await own({
    credential: async ({ registry }) => (registry === ECR.registry ? filed : undefined),
  });
  expect(await password()).toBe('filed');
  expect(await password(QUAY)).toBeUndefined();
  expect(asked).toHaveLength(0);
  filed = undefined;
  expect(await password()).toBe('token-1');
});

test('a token that a registry refuses is asked for again, once a minute', async () => {
  const { source, password, later } = await own({ credential: async () => undefined });
  const first = (await source.credential(ECR)) as Credential;
  expect(await source.refused?.(ECR, first)).toBe(false);
  later(1 / 30);
  expect(await source.refused?.(ECR, first)).toBe(true);
  expect(await password()).toBe('token-2');
});
