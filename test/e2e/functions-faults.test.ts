/**
 * Merges on a stand-in for AWS under thirty faults: of functions, of DynamoDB, S3 and the secrets, of the registry, of GitHub and
 * of webhooks. Requests to SQS go past the faults: its client asks the host of the queue's URL. PORTOLAN_LOAD is the number of merges.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { bucketRecords } from '../../functions/s3/records.ts';
import { pause } from '../fakes/burst.ts';
import { cloud } from '../fakes/cloud.ts';
import { cloudQueues } from '../fakes/cloud-queues.ts';
import { type Fault, faultProxy, type Passing } from '../fakes/fault-proxy.ts';
import {
  answer,
  expectToldOnce,
  type FaultHost,
  type FaultWorld,
  isRead,
  isWrite,
} from '../fakes/fault-run.ts';
import { buildProgram } from '../fakes/program.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = ['ministack', 'aws', 'docker-registry'].every(isOnPath) && process.platform === 'linux';
const MANY = Number(process.env['PORTOLAN_LOAD'] ?? 15);

beforeAll(() => {
  if (isComplete) buildProgram();
});

/** A file of a process; empty when it is gone. */
function processFile(id: string, name: string): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Ids of the processes with a variable in their environment. */
function processesWith(variable: string): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => processFile(id, 'environ').split('\0').includes(variable));
}

/** CPU seconds of a process, and of its children that have ended. */
function cpuOf(id: string, isStandIn: boolean): number {
  const fields = processFile(id, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  const [own = 0, system = 0, ofChildren = 0, ofTheirs = 0] = fields.slice(11, 15);
  return (isStandIn ? ofChildren + ofTheirs : own + system + ofChildren + ofTheirs) / 100;
}

async function openHost(world: FaultWorld): Promise<FaultHost> {
  let ofCloud: (request: Passing) => Fault = () => ({ kind: 'pass' });
  let between = '';
  const at = await cloud({
    ...{ git: world.git, branch: 'main', registry: world.registries, github: world.github },
    through: async (host) => {
      const { host: proxy } = await faultProxy(host, (request) => ofCloud(request));
      between = `http://${proxy}`;
      return between;
    },
  });
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: at.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  }))
    vi.stubEnv(name, value);
  const queues = cloudQueues(at);
  const records = bucketRecords({ bucket: at.outputs['Records'] ?? '', prefix: '', inPath: true });
  /** @param service the beginning of the request's target; S3 has none */
  const fails = (service: string, fault: Fault) => async (): Promise<void> => {
    ofCloud = ({ headers }) => {
      const target = String(headers['x-amz-target'] ?? '');
      const isMeant = service === '' ? target === '' : target.startsWith(service);
      return isMeant ? fault : { kind: 'pass' };
    };
    await pause(3000);
    ofCloud = () => ({ kind: 'pass' });
  };
  let [kills, isDone] = [0, false];
  const killWork = async (): Promise<void> => {
    let isPublishing = false;
    const before = ofCloud;
    ofCloud = ({ method, url }) => {
      isPublishing ||= method === 'PUT' && url.includes('/documents/');
      return { kind: 'pass' };
    };
    for (let tries = 0; !isPublishing && tries < 6000; tries++) await pause(10);
    ofCloud = before;
    const isWork = (id: string): boolean =>
      /AWS_LAMBDA_FUNCTION_NAME=[^\0]*Work/.test(processFile(id, 'environ'));
    for (const id of processesWith(`AWS_ENDPOINT_URL=${between}`).filter(isWork)) {
      process.kill(Number(id), 'SIGKILL');
      kills++;
    }
  };
  const { registry, api, again, late, forged } = world;
  // What a killed function had comes again after eleven minutes: not in each run of all tests.
  const deadly = process.env['PORTOLAN_LOAD'] === undefined ? again : killWork;
  const [claims, storage, secrets] = ['DynamoDB', '', 'secretsmanager'];
  const strikes = [
    ...[deadly, fails(claims, answer(500)), registry(answer(500)), again, fails(storage, answer(503))],
    ...[registry(answer(429)), late, registry({ kind: 'truncate', after: 100 }, isRead), api(answer(502))],
    ...[forged, fails(claims, { kind: 'cut-answer' }), registry({ kind: 'cut-answer' }, isWrite), again],
    ...[fails(storage, { kind: 'cut-answer' }), registry(answer(503), isWrite), fails(secrets, answer(500))],
    ...[registry({ kind: 'cut' }), api({ kind: 'cut-answer' }), fails(claims, { kind: 'cut' }), late],
    ...[fails(storage, { kind: 'cut' }), registry({ kind: 'stall', after: 50 }, isRead), api(answer(502))],
    ...[fails(claims, answer(503)), registry(answer(500), isRead), again, fails(storage, answer(500))],
    ...[registry({ kind: 'cut-request', after: 100 }, isWrite), api({ kind: 'cut' }), late],
  ];
  return {
    name: 'AWS',
    strikes,
    push: async (payload) => (await at.push(payload).catch(() => 0)) === 202,
    forge: (payload) => at.push(payload, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
    isIdle: async () => {
      const open = await Promise.all(['Queue', 'Reports'].map((name) => queues.count(name)));
      if (!isDone && open.every((one) => one === 0)) {
        isDone = true;
        console.log(`${kills} functions killed; put aside: ${await queues.count('Aside')}`);
        expect(await queues.count('Aside')).toBe(0);
      }
      return open.every((one) => one === 0);
    },
    receipts: async () => {
      const keys = (await records.list('documents/')).filter((key) => key.endsWith('/receipt.json'));
      return Promise.all(
        keys.map(async (key) => JSON.parse(new TextDecoder().decode((await records.get(key))?.bytes))),
      );
    },
    cpu: async () => {
      const standIn = processesWith(`GATEWAY_PORT=${new URL(at.endpoint).port}`);
      const functions = new Set(processesWith(`AWS_ENDPOINT_URL=${between}`));
      return [...new Set([...standIn, ...functions])].reduce((sum, id) => {
        const isStandIn = !/AWS_LAMBDA_FUNCTION_NAME=/.test(processFile(id, 'environ'));
        return sum + cpuOf(id, isStandIn);
      }, 0);
    },
  };
}

describe.skipIf(!isComplete)('on a stand-in for AWS', () => {
  test(
    'under thirty faults no tag moves backwards, nothing is lost, and each merge ends with one status',
    {
      timeout: 7_200_000,
    },
    () => expectToldOnce(MANY, openHost),
  );
});
