/** Each function may do what it does and nothing else: the calls that it makes beside its policy. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handleCatalog } from '../../../pipeline/publish/delivery/catalog.ts';
import type { PushMessage } from '../../../pipeline/publish/delivery/message.ts';
import type { DeliveryPorts } from '../../../pipeline/publish/delivery/ports.ts';
import { reconcileBranch } from '../../../pipeline/publish/delivery/reconcile.ts';
import { deliver } from '../../fakes/delivery.ts';
import { type SampleRepository, sampleRepository } from '../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = sampleRepository();
});
afterAll(() => sample.remove());

/** What each call of a port takes; a record that is not there is only said so to who may list. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'records.get': ['s3:GetObject', 's3:ListBucket'],
  'records.put': ['s3:PutObject'],
  'records.list': ['s3:ListBucket'],
  'fence.read': ['dynamodb:GetItem'],
  'fence.replace': ['dynamodb:PutItem'],
  'fence.readLease': ['dynamodb:GetItem'],
  'fence.replaceLease': ['dynamodb:PutItem'],
  'bus.announce': ['events:PutEvents'],
  'records.replace': ['s3:GetObject', 's3:PutObject'],
  'queue.send': ['sqs:SendMessage'],
  'reports.send': ['sqs:SendMessage'],
  'queue.retryMessageSoon': ['sqs:ChangeMessageVisibility'],
  'forge.report': ['secretsmanager:GetSecretValue'],
  'forge.deployed': ['secretsmanager:GetSecretValue'],
  'registry.resolve': ['ecr:GetAuthorizationToken', 'ecr:BatchGetImage'],
  'registry.getManifest': ['ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
  'registry.putBlob': [
    'ecr:DescribeRepositories',
    'ecr:CreateRepository',
    'ecr:BatchCheckLayerAvailability',
    'ecr:InitiateLayerUpload',
    'ecr:UploadLayerPart',
    'ecr:CompleteLayerUpload',
  ],
  'registry.putManifest': ['ecr:PutImage'],
  'signer.sign': ['kms:GetPublicKey', 'kms:Sign'],
  'registry.deleteManifest': ['ecr:BatchDeleteImage'],
  'registry.listTags': ['ecr:ListImages'],
  'registry.listReferrers': ['ecr:ListImageReferrers'],
  'registry.keepImages': ['ecr:GetLifecyclePolicy', 'ecr:PutLifecyclePolicy'],
};

function actionsOf(calls: readonly string[]): string[] {
  return sorted(calls.flatMap((call) => ACTIONS[call] ?? [`unknown: ${call}`]));
}

function sorted(actions: readonly string[]): string[] {
  return [...new Set(actions)].sort();
}

/** A function's part of the template. */
function partOf(name: string): string {
  const template = readFileSync('functions/aws/template.yaml', 'utf8');
  return new RegExp(`^  ${name}:\\n((?: {4}.*\\n|\\n)+)`, 'm').exec(template)?.[1] ?? '';
}

/** Every action that stands there. */
function allowed(name: string): string[] {
  // Of a condition's key: it allows nothing.
  const part = partOf(name).replaceAll('dynamodb:LeadingKeys', '');
  return sorted(
    [...part.matchAll(/\b(?:s3|sqs|dynamodb|ecr|events|kms|secretsmanager):[A-Z][A-Za-z]+/g)].map(
      ([action]) => action,
    ),
  );
}

const push = (commit: string, branch = 'main'): PushMessage => ({
  v: 1,
  kind: 'push',
  repository: 'sea/catalogs',
  branch,
  commit,
});

/** What the retirement of a catalog asks of its registry, where the policy says that its images are deleted. */
const RETIREMENT = ['registry.listTags', 'registry.listReferrers', 'registry.deleteManifest'];

function callsBy(
  calls: readonly string[],
  callers: readonly string[],
  isBy: (caller: string) => boolean,
): string[] {
  return calls.filter((_, i) => isBy(callers[i] ?? ''));
}

/** The calls of what is done last, after the sample was published. */
async function callsOf(last: (ports: DeliveryPorts) => Promise<unknown>): Promise<readonly string[]> {
  const run = { directory: sample.directory, pushes: [push(sample.base)] };
  const { calls, callers } = await deliver({ ...run, last: (living) => last(living()) });
  // What it asks to be reported is told by another function.
  return callsBy(calls, callers, (caller) => caller === 'last');
}

test('the function of the queue', async () => {
  const { calls, callers } = await deliver({ directory: sample.directory, pushes: [push(sample.base)] });
  const own = callsBy(calls, callers, (caller) => caller !== 'report');
  // A message that failed is hurried, which is no call of a port; the App's secret is read to fetch.
  // The sample keeps all of its images, and signs none.
  expect(allowed('WorkFunction')).toEqual(
    actionsOf([
      ...own,
      ...RETIREMENT,
      'forge.report',
      'queue.retryMessageSoon',
      'registry.keepImages',
      'signer.sign',
    ]),
  );
});

test('the function that reports', async () => {
  const { calls, callers } = await deliver({ directory: sample.directory, pushes: [push(sample.base)] });
  const own = callsBy(calls, callers, (caller) => caller === 'report');
  expect(own).toContain('bus.announce');
  expect(allowed('ReportFunction')).toEqual(actionsOf([...own, 'queue.retryMessageSoon']));
  const folders = partOf('ReportFunction').matchAll(/Records\.Arn\}\/(\w+)\//g);
  expect(new Set([...folders].map(([, folder]) => folder))).toEqual(
    new Set(['outcomes', 'documents', 'reported']),
  );
});

test('the function of the state machine', async () => {
  const calls = await callsOf(({ ...ports }) =>
    handleCatalog({ ...push(sample.addition, 'addition'), kind: 'catalog', catalog: 'v4.20' }, ports),
  );
  expect(allowed('PublishFunction')).toEqual(
    actionsOf([...calls, ...RETIREMENT, 'forge.report', 'registry.keepImages', 'signer.sign']),
  );
});

test('the reconciler, when a tag was moved by somebody else', async () => {
  const tag = {
    kind: 'tag',
    registry: 'registry.example.com',
    repository: 'sea/catalog',
    tag: 'v4.20',
  } as const;
  const read = new Set<string | undefined>();
  const calls = await callsOf(async (ports) => {
    await ports.registry.deleteManifest(tag);
    await ports.records.put('published/v4.20/x', new Uint8Array());
    const get: typeof ports.records.get = (key) => {
      read.add(key.split('/')[0]);
      return ports.records.get(key);
    };
    const records = { get, put: ports.records.put, replace: ports.records.replace, list: ports.records.list };
    const { healed } = await reconcileBranch(
      { repository: 'sea/catalogs', branch: 'main' },
      { ...ports, records },
    );
    expect(healed).toEqual(['v4.20']);
  });
  const folders = partOf('ReconcileFunction').matchAll(/Records\.Arn\}\/(\w+)\//g);
  // The sample's policy releases no bundles; for one that does, see ../release.slow.test.ts.
  expect(new Set([...folders].map(([, folder]) => folder))).toEqual(new Set([...read, 'bundles']));
  // It reads the App's secret to fetch, which is no call of a port.
  const own = [...calls.filter((call) => call !== 'registry.deleteManifest'), 'forge.report'];
  expect(allowed('ReconcileFunction')).toEqual(actionsOf(own));
});

test('the address of webhooks, which everybody can reach', () => {
  const calls = ['records.get', 'records.put', 'queue.send', 'forge.report'];
  expect(allowed('ReceiveFunction')).toEqual(actionsOf(calls));
});

test('the address of jobs, which everybody can reach', () => {
  const calls = ['records.get', 'records.put', 'records.list', 'queue.send'];
  expect(allowed('AskFunction')).toEqual(actionsOf(calls));
});

test('the one that looks for drift', () => {
  const calls = ['registry.resolve', 'registry.getManifest', 'forge.report'];
  expect(allowed('DriftFunction')).toEqual(actionsOf(calls));
});
