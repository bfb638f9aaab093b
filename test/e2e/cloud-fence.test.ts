/** The fence in DynamoDB and in S3, by the same contract as every other place of it. */
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tableFence } from '../../functions/aws/fence.ts';
import { bucketRecords } from '../../functions/aws/records.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import {
  expectConditional,
  expectNewest,
  expectOneTurn,
  expectOneWinner,
  type TwoViews,
} from '../fakes/fence-contract.ts';
import { freePort, isOnPath, start } from '../fakes/tools.ts';

let endpoint: string;
beforeEach(async () => {
  if (!isOnPath('ministack')) return;
  const port = await freePort();
  endpoint = `http://127.0.0.1:${port}`;
  const environment = { BIND_HOST: '127.0.0.1', GATEWAY_PORT: String(port) };
  await start({ program: 'ministack', parameters: [], environment, url: `${endpoint}/_ministack/health` });
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterEach(() => void vi.unstubAllEnvs());

async function table(): Promise<TwoViews> {
  const client = new DynamoDBClient({});
  onTestFinished(() => client.destroy());
  await client.send(
    new CreateTableCommand({
      TableName: 'fence',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
    }),
  );
  return [tableFence('fence'), tableFence('fence')];
}

async function bucket(): Promise<TwoViews> {
  const client = new S3Client({ forcePathStyle: true });
  onTestFinished(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: 'records' }));
  const records = () => recordFence(bucketRecords({ bucket: 'records', prefix: '', inPath: true }));
  return [records(), records()];
}

describe.skipIf(!isOnPath('ministack'))('on a stand-in for AWS', () => {
  const places = [
    ['a table of DynamoDB', table],
    ['records in S3', bucket],
  ] as const;

  test.each(places)('%s: a claim is replaced only by who has read it', async (_, open) =>
    expectConditional(await open()),
  );

  test.each(places)('%s: of eight at once one has the lease, until it ends', async (_, open) =>
    expectOneTurn(await open()),
  );

  test.each(places)('%s: of eight at once one is first, ten times', async (_, open) =>
    expectOneWinner(await open(), 10),
  );

  test.each(places)('%s: of four at once the newest commit wins', async (_, open) =>
    expectNewest(await open()),
  );

  test('an item that holds no claim stops everything', async () => {
    await table();
    const Item = { name: { S: 'x' }, sequence: { N: '1' }, claim: { S: '{}' } };
    await new DynamoDBClient({}).send(new PutItemCommand({ TableName: 'fence', Item }));
    await expect(tableFence('fence').read('x')).rejects.toMatchObject({ code: 'corrupt' });
  });
});
