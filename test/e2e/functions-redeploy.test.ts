/** A stack is removed and deployed again: claims and records outlive it, and are copied as the page says. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, cloud } from '../fakes/cloud.ts';
import { buildProgram } from '../fakes/program.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = ['ministack', 'aws', 'jq'].every(isOnPath);

beforeAll(() => {
  if (isComplete) buildProgram();
});

const ITEM = { name: { S: 'v4.20/0123456789abcdef' }, sequence: { N: '7' }, claim: { S: '{}' } };

/** Runs what the page says, from a table and a bucket to others. */
function copy({ endpoint }: Cloud, from: readonly [string, string], to: readonly [string, string]): void {
  const page = readFileSync('docs/functions.md', 'utf8');
  const [, script = ''] = /### Remove and deploy again(?:.|\n)*?```\n((?:.|\n)*?)```/.exec(page) ?? [];
  const text = script
    .replaceAll('OLD-TABLE', from[0])
    .replaceAll('OLD-BUCKET', from[1])
    .replaceAll('NEW-TABLE', to[0])
    .replaceAll('NEW-BUCKET', to[1]);
  const environment = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint,
  };
  execFileSync('bash', ['-e', '-o', 'pipefail', '-c', text], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

describe.skipIf(!isComplete)('a stack that is removed', () => {
  test('leaves its table and its bucket, from which the next one goes on', { timeout: 600_000 }, async () => {
    const nowhere = 'http://127.0.0.1:9';
    const at = await cloud({
      git: `${nowhere}/x.git`,
      branch: 'main',
      registry: '127.0.0.1:9',
      github: nowhere,
    });
    const { Fence: oldTable = '', Records: oldBucket = '' } = at.outputs;
    await at.aws('dynamodb', 'put-item', '--table-name', oldTable, '--item', JSON.stringify(ITEM));
    await at.aws('s3api', 'put-object', '--bucket', oldBucket, '--key', 'published/v4.20/x');
    await at.aws('cloudformation', 'delete-stack', '--stack-name', 'portolan');
    await at.aws('cloudformation', 'wait', 'stack-delete-complete', '--stack-name', 'portolan');
    const { Functions } = (await at.aws('lambda', 'list-functions')) as { Functions: readonly unknown[] };
    expect(Functions).toEqual([]);
    expect(await at.aws('dynamodb', 'scan', '--table-name', oldTable)).toMatchObject({ Items: [ITEM] });

    // ministack gives the next stack's table the same name, and empties it; AWS never does.
    const key = { AttributeName: 'name' };
    const attributes = ['--attribute-definitions', JSON.stringify([{ ...key, AttributeType: 'S' }])];
    const keys = ['--key-schema', JSON.stringify([{ ...key, KeyType: 'HASH' }])];
    const billing = ['--billing-mode', 'PAY_PER_REQUEST'];
    await at.aws('dynamodb', 'create-table', '--table-name', 'kept', ...billing, ...attributes, ...keys);
    await at.aws('s3', 'mb', 's3://kept');
    copy(at, [oldTable, oldBucket], ['kept', 'kept']);

    const { Fence: newTable = '', Records: newBucket = '' } = await at.deploy();
    copy(at, ['kept', 'kept'], [newTable, newBucket]);
    const { Items } = (await at.aws('dynamodb', 'scan', '--table-name', newTable)) as {
      Items: readonly unknown[];
    };
    expect(Items).toEqual([ITEM]);
    const listed = await at.aws('s3api', 'list-objects-v2', '--bucket', newBucket);
    expect(listed).toMatchObject({ Contents: [{ Key: 'published/v4.20/x' }] });
  });
});
