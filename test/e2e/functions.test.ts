/**
 * The whole way on a stand-in for AWS: a merge in a repository over HTTP, a signed webhook, the queue,
 * the functions as they are deployed, a registry that others wrote, documents in S3, statuses.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PLAN_TYPE } from '../../pipeline/publish/artifacts.ts';
import { PAGE_TYPE } from '../../pipeline/publish/page.ts';
import {
  AUDIENCE,
  type Cloud,
  cloud,
  type FakeGitHub,
  fakeGitHub,
  JOB,
  pushPayload,
  REPOSITORY_ID,
} from '../fakes/cloud.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { type Issuer, startIssuer } from '../fakes/issuer.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry, type RealRegistry } from '../fakes/real-registry.ts';
import { type SampleRepository, sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath, run } from '../fakes/tools.ts';

const isComplete = ['ministack', 'aws', 'docker-registry', 'skopeo'].every(isOnPath);

beforeAll(() => {
  if (isComplete) buildProgram();
});

interface Scene {
  readonly sample: SampleRepository;
  /** A commit on top of the sample's addition, with nothing of a catalog in it. */
  readonly third: string;
  readonly registry: RealRegistry;
  readonly github: FakeGitHub;
  readonly issuer: Issuer;
  readonly cloud: Cloud;
  /** Moves the branch, as a merge does. */
  merge(commit: string): void;
  /** The digest that the tag names now, as skopeo sees it. */
  now(): Promise<string | undefined>;
}

async function scene(): Promise<Scene> {
  const registry = await dockerRegistry();
  const path = '.github/portolan.yaml';
  const policy = String(sampleFiles()[path]).replace(
    'registry.example.com/sea/catalog',
    `${registry.host}/sea/catalog`,
  );
  const sample = sampleRepository({ [path]: policy });
  const third = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'third' });
  const served = join(folder(), 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
  // As GitHub does: then the functions need no git.
  execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
  const merge = (commit: string): void =>
    void execFileSync('git', ['-C', served, 'update-ref', 'refs/heads/main', commit]);
  const github = await fakeGitHub();
  const git = await gitServer(served);
  const issuer = await startIssuer();
  const at = await cloud({
    ...{ git, branch: 'main', registry: registry.host },
    ...{ github: github.url, issuer: issuer.url, guarded: true },
  });
  const now = async (): Promise<string | undefined> => {
    const name = `docker://${registry.host}/sea/catalog:v4.20`;
    const words = ['inspect', '--format', '{{.Digest}}', ...registry.skopeo, name];
    return (await run('skopeo', ...words).catch(() => undefined))?.toString().trim();
  };
  return { sample, third, registry, github, issuer, cloud: at, merge, now };
}

async function until(what: () => boolean | Promise<boolean>, seconds: number): Promise<number> {
  const began = performance.now();
  while (!(await what())) {
    if (performance.now() - began > seconds * 1000) throw new Error(`not within ${seconds} s`);
    await new Promise((done) => setTimeout(done, 200));
  }
  return (performance.now() - began) / 1000;
}

describe.skipIf(!isComplete)('on a stand-in for AWS', () => {
  test('a merge becomes an image, documents and a status; the next one replaces it', {
    timeout: 900_000,
  }, async () => {
    const { sample, third, registry, github, issuer, cloud: at, merge, now } = await scene();
    const said = (commit: string): string | undefined =>
      github.statuses.findLast((status) => status.commit === commit)?.state;
    expect(await at.push(pushPayload(sample.base, 'main'))).toBe(202);
    const first = await until(() => said(sample.base) === 'success', 300);
    const digest = await now();
    expect(github.deployments).toEqual([
      { commit: sample.base, environment: 'catalog/v4.20', description: digest },
    ]);
    expect(digest).toMatch(/^sha256:/);
    merge(sample.addition);
    expect(await at.push(pushPayload(sample.addition, 'main'))).toBe(202);
    const second = await until(() => said(sample.addition) === 'success', 300);
    expect(await now()).not.toBe(digest);
    console.log(
      `merge to published: ${first.toFixed(1)} s in a cold function, ${second.toFixed(1)} s in a warm one`,
    );
    const listed = await at.aws('s3api', 'list-objects-v2', '--bucket', at.outputs['Records'] ?? '');
    const keys = (listed as { Contents: { Key: string }[] }).Contents.map(({ Key }) => Key);
    const ofSecond = keys.filter((key) => key.includes(sample.addition));
    expect(ofSecond.map((key) => key.split('/').at(-1))).toEqual(
      expect.arrayContaining(['mapping.txt', 'page.html', 'receipt.json', 'catalogSource.yaml']),
    );
    const link = github.statuses.findLast(({ commit }) => commit === sample.addition)?.link ?? '';
    const shown = ofSecond.find((key) => key.endsWith('/page.html')) ?? 'no page';
    expect(new URL(link).searchParams.get('prefix')).toBe(shown);
    const artifacts = await registry.client.listReferrers(
      { registry: registry.host, repository: 'sea/catalog' },
      (await now()) ?? '',
    );
    expect(artifacts.map(({ artifactType }) => artifactType)).toEqual(
      expect.arrayContaining([PLAN_TYPE, PAGE_TYPE]),
    );
    merge(third);
    await asked(at, issuer, third);
    await refused(at, sample);
    await healed(at, { registry, now });
    expectPolicies(at);
  });
});

/**
 * What a policy allows and a function has not called here, with the reason. ECR is authorized by these actions for what
 * it is asked over HTTP, and the catalogs go to another registry here.
 */
const ECR = [
  'BatchCheckLayerAvailability',
  'BatchDeleteImage',
  'BatchGetImage',
  'CompleteLayerUpload',
  'CreateRepository',
  'DescribeRepositories',
  'GetAuthorizationToken',
  'GetDownloadUrlForLayer',
  'GetLifecyclePolicy',
  'InitiateLayerUpload',
  'ListImageReferrers',
  'ListImages',
  'PutImage',
  'PutLifecyclePolicy',
  'UploadLayerPart',
].map((name) => `ecr:${name}`);
/** Signs where the parameter SigningKey is set. */
const KMS = ['kms:GetPublicKey', 'kms:Sign'];
/** Says of a record that is not there that it is not, and is no call. */
const LIST = 's3:ListBucket';
/** Called at the queue's own address, which passes by the recorder; without it nothing would have been published. */
const SEND = 'sqs:SendMessage';
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  // A message that failed comes again sooner: none fails here.
  Work: [...ECR, ...KMS, SEND, 'sqs:ChangeMessageVisibility'],
  Publish: [...ECR, ...KMS, LIST, SEND],
  // A report that GitHub does not take comes again later: it takes all here.
  Report: [LIST, 'sqs:ChangeMessageVisibility'],
  // It writes a record where one does not follow its claim: all do here.
  Reconcile: [
    's3:PutObject',
    'ecr:BatchGetImage',
    'ecr:GetAuthorizationToken',
    'ecr:GetDownloadUrlForLayer',
    'ecr:PutImage',
  ],
  Receive: [LIST, SEND],
  Ask: [SEND],
  Status: [],
};

/** ministack has refused what a policy does not allow. What was called stands beside what is allowed. */
function expectPolicies({ actions }: Cloud): void {
  const template = readFileSync('functions/aws/template.yaml', 'utf8');
  const differing: Record<string, unknown> = {};
  for (const [name, unused] of Object.entries(UNUSED)) {
    const part = new RegExp(`^  ${name}Function:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(template)?.[1] ?? '';
    const found = part.replaceAll('dynamodb:LeadingKeys', '').matchAll(IAM);
    const allowed = new Set([...found].map(([action]) => action));
    const called = actions.get(name) ?? new Set();
    const missing = [...called].filter((action) => !allowed.has(action));
    const left = [...allowed].filter((action) => !called.has(action) && !unused.includes(action));
    const wrong = unused.filter((action) => called.has(action) || !allowed.has(action));
    if (missing.length + left.length + wrong.length > 0) differing[name] = { missing, left, wrong };
  }
  expect(differing).toEqual({});
}

const IAM = /\b(?:s3|sqs|dynamodb|ecr|events|kms|secretsmanager):[A-Z][A-Za-z]+/g;

/** A job asks for the next merge by its token, and is told what is published; nobody else's token does. */
async function asked(at: Cloud, issuer: Issuer, commit: string): Promise<void> {
  const claims = {
    aud: AUDIENCE,
    repository: 'sea/catalogs',
    repository_id: String(REPOSITORY_ID),
    repository_owner_id: String(JOB.ownerId),
    ref: 'refs/heads/main',
    event_name: 'push',
    workflow_ref: `sea/catalogs/${JOB.workflow}@refs/heads/main`,
    job_workflow_ref: `sea/catalogs/${JOB.workflow}@refs/heads/main`,
  };
  const { Functions } = (await at.aws('lambda', 'list-functions')) as {
    Functions: { FunctionName: string }[];
  };
  const name = Functions.find(({ FunctionName }) => FunctionName.includes('AskFunction'))?.FunctionName ?? '';
  const ask = async (differing: object): Promise<{ statusCode: number; body: string }> => {
    const authorization = `Bearer ${await issuer.token({ ...claims, ...differing })}`;
    const body = JSON.stringify({ repository: 'sea/catalogs', commit, catalog: 'v4.20' });
    const answer = join(folder(), 'answer.json');
    const payload = join(folder(), 'event.json');
    writeFileSync(payload, JSON.stringify({ headers: { authorization }, body }));
    await at.aws('lambda', 'invoke', '--function-name', name, '--payload', `fileb://${payload}`, answer);
    return JSON.parse(readFileSync(answer, 'utf8'));
  };
  expect(await ask({ repository_id: '666' })).toMatchObject({
    statusCode: 403,
    body: expect.stringContaining('jobs of this repository are not allowed'),
  });
  const { statusCode, body } = await ask({});
  expect(statusCode, body).toBe(200);
  const { receipt, files } = JSON.parse(body);
  expect(receipt).toMatchObject({ kind: 'PublishReceipt', commit, catalog: 'v4.20' });
  expect(Object.keys(files)).toContain('mapping.txt');
}

/** What is not GitHub's own, or came before, moves nothing. */
async function refused(at: Cloud, sample: SampleRepository): Promise<void> {
  const payload = pushPayload(sample.base, 'main');
  expect(await at.push(payload, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })).toBe(401);
  expect(await at.push(pushPayload(sample.base, 'main', Date.now() - 4 * 86_400_000))).toBe(409);
  expect(await at.push(' '.repeat(6 * 1024 * 1024))).toBeGreaterThanOrEqual(400);
}

/** An image that is gone from its registry is built again: the state machine, to its end. */
async function healed(at: Cloud, { registry, now }: Pick<Scene, 'registry' | 'now'>): Promise<void> {
  const digest = await now();
  await run('skopeo', 'delete', ...registry.skopeo, `docker://${registry.host}/sea/catalog:v4.20`);
  expect(await now()).toBeUndefined();
  const machine = at.outputs['Reconciler'] ?? '';
  const started = await at.aws('stepfunctions', 'start-execution', '--state-machine-arn', machine);
  const execution = (started as { executionArn: string }).executionArn;
  const description = async () =>
    (await at.aws('stepfunctions', 'describe-execution', '--execution-arn', execution)) as {
      status: string;
      output?: string;
      error?: string;
    };
  await until(async () => (await description()).status !== 'RUNNING', 300);
  const { status, output, error } = await description();
  expect(status, error).toBe('SUCCEEDED');
  expect(JSON.parse(output ?? '{}').catalogs).toEqual([{ catalog: 'v4.20', state: 'published' }]);
  expect(await now()).toBe(digest);
  const answer = join(folder(), 'status.json');
  await at.aws('lambda', 'invoke', '--function-name', 'portolan-status', answer);
  expect(JSON.parse(readFileSync(answer, 'utf8')).published).toMatchObject([{ catalog: 'v4.20', digest }]);
}
