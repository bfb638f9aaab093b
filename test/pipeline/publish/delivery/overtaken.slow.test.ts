/** Merges that a newer one overtakes are told once what became of them; faults that pass are told to nobody. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import type { CommitStatus } from '../../../../pipeline/ports.ts';
import { handleDelivery } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import {
  messageOf,
  type PushMessage,
  readWork,
  type Work,
} from '../../../../pipeline/publish/delivery/message.ts';
import { noteOvertaken } from '../../../../pipeline/publish/delivery/overtaken.ts';
import type { DeliveryPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { handleReport } from '../../../../pipeline/publish/delivery/report.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { clockedQueue } from '../../../fakes/clocked-queue.ts';
import { Death, deliveryWorld } from '../../../fakes/delivery.ts';
import { folder } from '../../../fakes/folder.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const REPOSITORY = 'sea/catalogs';

type Disturbed = (work: Work, ports: DeliveryPorts, tries: number) => DeliveryPorts;

/** Delivers pushes that are all on the branch, each step in a worker of its own. @returns each status, in order */
async function statusesOf(
  branch: string,
  commits: readonly string[],
  disturbed: Disturbed = (_, ports) => ports,
): Promise<readonly CommitStatus[]> {
  const queue = clockedQueue({ attempts: 12 });
  const reports = memoryQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue, reports });
  const told: CommitStatus[] = [];
  const forge = { report: async (status: CommitStatus) => void told.push(status) };
  for (const commit of commits) {
    const push: PushMessage = { v: 1, kind: 'push', repository: REPOSITORY, branch, commit };
    await queue.send(messageOf(push));
  }
  await queue.drain(async (message) => {
    const ports = disturbed(readWork(message.body), world.living('work'), message.tries);
    try {
      await handleDelivery({ ...message, id: `own ${message.id}` }, ports);
    } finally {
      // GitHub is told at once: what was told cannot be taken back.
      await reports.drain((body) => handleReport(body, { ...world.living('report'), forge }));
    }
  });
  expect(queue.aside).toEqual([]);
  return told;
}

function saidOf(commit: string, told: readonly CommitStatus[], context = 'portolan/publish'): string[] {
  return told
    .filter((one) => one.commit === commit && one.context === context)
    .map(({ state, description }) => `${state}: ${description}`);
}

test('each merge of a burst is told once which newer commit it was published with', async () => {
  const tip = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'burst' });
  const told = await statusesOf('burst', [sample.base, sample.addition, tip]);
  for (const older of [sample.base, sample.addition]) {
    expect(saidOf(older, told)).toEqual([`success: published as part of a newer commit: ${tip}`]);
  }
  expect(told.filter(({ state }) => state === 'failure' || state === 'error')).toEqual([]);
});

test('a merge whose newer commit is refused is told what became of itself', async () => {
  const tip = sample.commit(
    { [HARBOUR]: 'schema: olm.package\n' },
    { parents: [sample.addition], branch: 'refused' },
  );
  const told = await statusesOf('refused', [sample.addition, tip]);
  expect(saidOf(sample.addition, told)).toEqual([
    expect.stringMatching(/^success: published: v4\.20: sha256:[0-9a-f]{64}$/),
  ]);
  const other = sample.commit(
    { [HARBOUR]: 'schema: olm.channel\n' },
    { parents: [sample.base], branch: 'both' },
  );
  const newest = sample.commit({ [HARBOUR]: 'schema: olm.package\n' }, { parents: [other], branch: 'both' });
  const [last] = saidOf(other, await statusesOf('both', [other, newest]));
  expect(last).toMatch(/^failure: merged, not published: v4\.20: /);
});

test('a merge that the policy publishes nothing of alone is told at once', async () => {
  const later = sample.commit({ 'README.md': 'more' }, { parents: [sample.base], branch: 'words' });
  const told = await statusesOf('words', [later, sample.base]);
  expect(saidOf(sample.base, told)).toEqual([`success: published as part of a newer commit: ${later}`]);
});

test('a push that comes again keeps the catalogs of its first time', async () => {
  const records = directoryRecords(folder());
  const left = { repository: REPOSITORY, commit: sample.base };
  await noteOvertaken(records, left, ['a', 'b']);
  expect(await noteOvertaken(records, left, ['b', 'c'])).toEqual(['a', 'b', 'c']);
  expect(await noteOvertaken(records, left, [])).toEqual(['a', 'b', 'c']);
});

const CATALOG_STATUS = 'portolan/publish v4.20';

/** Ports of a worker that is killed, or whose registry fails, when it opens the branch for a catalog. */
function faulty(times: number, failure: () => Error): Disturbed {
  let left = times;
  return (work, ports) => {
    if (work.kind !== 'catalog' || left === 0) return ports;
    left--;
    const registry = {
      ...ports.registry,
      putBlob: async () => {
        throw failure();
      },
    };
    return { ...ports, registry };
  };
}

test.each([
  ['a worker that is killed', () => new Death()],
  ['a registry that fails', () => new PipelineError('unreachable', 'it answered 500', { retryable: true })],
])('%s and a later try that succeeds: one end is told', async (_, failure) => {
  const told = await statusesOf('main', [sample.base], faulty(1, failure));
  expect(saidOf(sample.base, told, CATALOG_STATUS).map((text) => text.split(':')[0])).toEqual([
    'pending',
    'success',
  ]);
});

test('what fails for longer is told, and then that it is published', async () => {
  const failing = faulty(5, () => new PipelineError('unreachable', 'it answered 500', { retryable: true }));
  const said = saidOf(sample.base, await statusesOf('main', [sample.base], failing), CATALOG_STATUS);
  expect(said.map((text) => text.split(':')[0])).toEqual(['pending', 'error', 'success']);
  expect(said[1]).toBe('error: not published yet: it answered 500');
});
