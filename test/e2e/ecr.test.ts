/** ECR's API, as an emulator has it. */
import { CreateRepositoryCommand, DescribeImagesCommand, ECRClient } from '@aws-sdk/client-ecr';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { ensureEcrRepository } from '../../functions/aws/ecr.ts';
import { ecrCredentials, ecrHost } from '../../functions/ecr/credentials.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { ministack } from '../fakes/ministack.ts';
import { registry } from '../fakes/registry.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';

async function emulator(): Promise<{ client: ECRClient; host: string }> {
  const { endpoint, port } = await ministack(await freePort());
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new ECRClient({ endpoint, region: 'us-east-1', credentials });
  onTestFinished(() => client.destroy());
  return { client, host: `127.0.0.1:${port}` };
}

describe.skipIf(!isOnPath('ministack'))('ECR', () => {
  test('gives a token for its own hosts, once; other registries are asked elsewhere', async () => {
    const { client } = await emulator();
    let asked = 0;
    const elsewhere = { credential: async () => undefined };
    const source = ecrCredentials(
      elsewhere,
      () => new Date(),
      () => {
        asked++;
        return client;
      },
    );
    const at = (registry: string) => source.credential({ registry, repository: 'a' });
    const host = '123456789012.dkr.ecr.us-east-1.amazonaws.com';
    expect(await at(host)).toMatchObject({
      kind: 'basic',
      username: 'AWS',
      password: expect.stringMatching(/./),
    });
    await at(host);
    expect(asked).toBe(1);
    expect(await at('quay.io')).toBeUndefined();
    expect(ecrHost('123456789012.dkr.ecr.evil.example.com')).toBeUndefined();
    expect(ecrHost('x.123456789012.dkr.ecr.us-east-1.amazonaws.com')).toBeUndefined();
  });

  test('has repositories made, and takes images', async () => {
    const { client, host } = await emulator();
    const reference = parseReference(`${host}/sea/catalog:v4.20`);
    expect(await ensureEcrRepository(client, reference)).toBe(true);
    expect(await ensureEcrRepository(client, reference)).toBe(false);
    const image = sampleImage({ architectures: ['amd64', 'arm64'] });
    const ours = testClient([host]);
    await pushImage(ours, reference, { image });
    expect(await ours.resolve(reference)).toMatchObject({ digest: image.root.digest });
    const { imageDetails = [] } = await client.send(
      new DescribeImagesCommand({ repositoryName: 'sea/catalog' }),
    );
    expect(imageDetails.flatMap(({ imageTags = [] }) => imageTags)).toContain('v4.20');
  });

  test('a repository that is there stays as it was set up', async () => {
    const { client, host } = await emulator();
    await client.send(new CreateRepositoryCommand({ repositoryName: 'sea/catalog' }));
    expect(await ensureEcrRepository(client, parseReference(`${host}/sea/catalog:x`))).toBe(false);
  });
});

test('what the emulator takes over HTTP and ECR does not: the strict registry refuses a tag that would move', async () => {
  const { host } = await registry({ isImmutable: (_, tag) => tag.startsWith('v') });
  const client = testClient([host]);
  const tag = parseReference(`${host}/sea/catalog:v4.20`);
  const image = sampleImage({ layers: ['one'] });
  await pushImage(client, tag, { image });
  // The very same image again is no move.
  await client.putManifest(tag, image.root);
  const moving = pushImage(client, tag, { image: sampleImage({ layers: ['two'] }) });
  await expect(moving).rejects.toMatchObject({ code: 'conflict' });
  expect(await client.resolve(tag)).toMatchObject({ digest: image.root.digest });
});
