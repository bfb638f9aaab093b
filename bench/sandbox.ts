/** Functions as they are built, each in a process under Lambda's limits, with ministack for the cloud. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { messageOf } from '../pipeline/publish/delivery/message.ts';
import { backend } from '../test/fakes/git-server.ts';
import { freePort } from '../test/fakes/tools.ts';

export interface StandIn {
  readonly environment: Readonly<Record<string, string>>;
  /** Moves the branch, and hands the push and what follows from it to the function. */
  merge(revision: string, work: Sandbox): Promise<void>;
  /** A signed event of GitHub. */
  webhook(body: string): unknown;
  close(): Promise<void>;
}

export interface StandInOptions {
  /** A git directory's work tree. */
  readonly repository: string;
  /** A registry that speaks plain HTTP. */
  readonly registry: string;
  readonly scratch: string;
}

const SOURCE = { repository: 'sea/catalogs', id: 1, branch: 'main' } as const;
const SECRET = 'secret';

/**
 * Starts ministack with what the functions need, and a git server for the repository. @throws Error when ministack does
 * not answer in 30 s
 */
export async function standIn({ repository, registry, scratch }: StandInOptions): Promise<StandIn> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const cloud = spawn('ministack', [], {
    env: { ...process.env, BIND_HOST: '127.0.0.1', GATEWAY_PORT: String(port) },
    stdio: 'ignore',
  });
  await answers(`${endpoint}/_ministack/health`);
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = { endpoint, region: 'us-east-1', credentials };
  const sqs = new SQSClient(client);
  await new S3Client({ ...client, forcePathStyle: true }).send(
    new CreateBucketCommand({ Bucket: 'records' }),
  );
  await new DynamoDBClient(client).send(
    new CreateTableCommand({
      TableName: 'fence',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'name', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }],
    }),
  );
  await new SecretsManagerClient(client).send(
    new CreateSecretCommand({ Name: 'webhook', SecretString: SECRET }),
  );
  const made = await sqs.send(
    new CreateQueueCommand({ QueueName: 'work.fifo', Attributes: { FifoQueue: 'true' } }),
  );
  const queue = made.QueueUrl ?? '';
  const git = createServer((request, response) => backend(repository, request, response));
  await new Promise<void>((done) => git.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(git.address() as AddressInfo).port}/.git`;
  const temporary = join(scratch, 'tmp');
  mkdirSync(temporary);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    TMPDIR: temporary,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL: endpoint,
    PORTOLAN_SOURCES: JSON.stringify([{ ...SOURCE, url }]),
    PORTOLAN_QUEUE: queue,
    PORTOLAN_REPORTS: queue,
    PORTOLAN_TABLE: 'fence',
    PORTOLAN_BUCKET: 'records',
    PORTOLAN_WEBHOOK_SECRET: 'webhook',
    PORTOLAN_PLAIN_HTTP: `${registry},${new URL(url).host}`,
  };
  return {
    environment,
    merge: async (revision, work) => {
      const commit = merged(repository, revision);
      const { group, id, body } = messageOf({ v: 1, kind: 'push', ...named(), commit });
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: queue,
          MessageBody: body,
          MessageGroupId: group,
          MessageDeduplicationId: id,
        }),
      );
      await drain(sqs, queue, work);
    },
    webhook: (body) => {
      const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
      return { headers: { 'x-github-event': 'push', 'x-hub-signature-256': signature }, body };
    },
    close: async () => {
      cloud.kill();
      git.closeAllConnections();
      await new Promise((done) => git.close(done));
    },
  };
}

/** The branch, as messages name it. */
function named() {
  const { repository, branch } = SOURCE;
  return { repository, branch };
}

/** A commit on the branch with the tree of a revision. */
function merged(repository: string, revision: string): string {
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', repository, ...words], {
      env: {
        ...process.env,
        ...Object.fromEntries(
          ['AUTHOR', 'COMMITTER'].flatMap((role) => [
            [`GIT_${role}_NAME`, 'b'],
            [`GIT_${role}_EMAIL`, 'b@example.com'],
          ]),
        ),
      },
      encoding: 'utf8',
    }).trim();
  const tree = `${revision === 'last' ? 'first' : revision}^{tree}`;
  const tip = git('for-each-ref', '--format=%(objectname)', 'refs/heads/main');
  const parents = tip === '' ? [] : ['-p', tip];
  const commit = git('commit-tree', git('rev-parse', tree), ...parents, '-m', revision);
  git('update-ref', 'refs/heads/main', commit);
  return commit;
}

/** Gives the function the messages of the queue, one by one, until there are none. @throws Error for one that fails */
async function drain(sqs: SQSClient, queue: string, work: Sandbox): Promise<void> {
  for (;;) {
    const { Messages: [message] = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queue, MaxNumberOfMessages: 1 }),
    );
    if (!message) return;
    const { MessageId: messageId, Body: body, ReceiptHandle: receiptHandle } = message;
    const attributes = { ApproximateReceiveCount: '1' };
    const answer = await work.call({
      Records: [{ messageId, body, receiptHandle, attributes, eventSource: 'aws:sqs' }],
    });
    const { batchItemFailures = [] } = (answer ?? {}) as { batchItemFailures?: readonly unknown[] };
    if (batchItemFailures.length > 0) throw new Error(`the message failed: ${body}`);
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: receiptHandle }));
  }
}

/** Waits until something answers at a URL. @throws Error after 30 s */
async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`nothing answers at ${url}`);
}

export interface Sandbox {
  /** Of the template, in MiB. */
  readonly limit: number;
  /** Calls the function. @throws Error with what it threw */
  call(event: unknown): Promise<unknown>;
  /** CPU so far in s, and memory at the peak in MiB; both without git's processes. */
  used(): Promise<{ readonly cpu: number; readonly memory: number }>;
  end(): void;
}

/** A function by its name in dist/functions, in a process of its own. */
export function sandbox(name: string, { environment }: StandIn, limit: number): Sandbox {
  const file = pathToFileURL(resolve('dist/functions', name, 'index.mjs')).href;
  // As Lambda's own runtime has it.
  const limits = [
    `--max-old-space-size=${Math.floor(limit * 0.9)}`,
    `--max-semi-space-size=${Math.floor(limit * 0.05)}`,
  ];
  const parameters = [...limits, '--no-warnings', '--input-type=module', '-e', LOOP];
  const child: ChildProcess = spawn(process.execPath, parameters, {
    env: { ...environment, FUNCTION: file },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const ask = async (question: unknown): Promise<Record<string, unknown>> => {
    child.stdin?.write(`${JSON.stringify(question)}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the function ${name} died`);
      // Everything else is the function's log.
      if (value.startsWith('=')) return JSON.parse(value.slice(1));
    }
  };
  return {
    limit,
    call: async (event) => {
      const { answer, failure } = await ask({ event });
      if (failure !== undefined) throw new Error(String(failure));
      return answer;
    },
    used: async () => (await ask({})) as { cpu: number; memory: number },
    end: () => void child.kill(),
  };
}

/** Runs in the sandbox: one line in, one line out. */
const LOOP = `
import { createInterface } from 'node:readline';

const { handler } = await import(process.env.FUNCTION);
for await (const line of createInterface({ input: process.stdin })) {
  const { event } = JSON.parse(line);
  const said = {};
  if (event === undefined) {
    const { user, system } = process.cpuUsage();
    said.cpu = (user + system) / 1e6;
    said.memory = process.resourceUsage().maxRSS / 1024;
  } else {
    try { said.answer = await handler(event) ?? null; } catch (error) { said.failure = String(error?.stack ?? error); }
  }
  process.stdout.write('\\n=' + JSON.stringify(said) + '\\n');
}
`;
