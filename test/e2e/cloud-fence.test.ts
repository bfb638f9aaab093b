/** The fence in DynamoDB and in S3, by the same contract as every other place of it. */
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { tableFence } from '../../functions/aws/fence.ts';
import { bucketRecords } from '../../functions/s3/records.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import {
  expectConditional,
  expectNewest,
  expectOneTurn,
  expectOneWinner,
  type TwoViews,
} from '../fakes/fence-contract.ts';
import { ministackForSdk } from '../fakes/ministack.ts';
import { isOnPath } from '../fakes/tools.ts';

beforeEach(async () => {
  if (isOnPath('ministack')) await ministackForSdk();
});

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
