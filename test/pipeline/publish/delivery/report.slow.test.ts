/** Reports are told once, whenever GitHub listens, and hold back nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import type { CommitStatus, Forge } from '../../../../pipeline/ports.ts';
import { handleMessage } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import { messageOf, type PushMessage } from '../../../../pipeline/publish/delivery/message.ts';
import { reportCommit, statusFor } from '../../../../pipeline/publish/delivery/outcome.ts';
import type { ReportPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { handleReport } from '../../../../pipeline/publish/delivery/report.ts';
import { statusOf } from '../../../../pipeline/publish/delivery/status.ts';
import { clockedQueue } from '../../../fakes/clocked-queue.ts';
import { deliveryWorld } from '../../../fakes/delivery.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

const push = (commit: string, branch: string): PushMessage => ({
  v: 1,
  kind: 'push',
  repository: 'sea/catalogs',
  branch,
  commit,
});

/** What GitHub and the bus were told, call by call. */
interface Heard {
  readonly statuses: CommitStatus[];
  readonly deployments: string[];
  readonly events: string[];
}

/** A GitHub that answers from some second on, and what it took. */
function github(isDown: () => boolean) {
  const heard: Heard = { statuses: [], deployments: [], events: [] };
  const listening = (): void => {
    if (isDown()) throw new PipelineError('bad-answer', 'GitHub answered 502', { retryable: true });
  };
  const told: Omit<ReportPorts, 'records'> = {
    forge: {
      report: async (status) => {
        listening();
        heard.statuses.push(status);
      },
    },
    deployed: async ({ receipt }) => {
      listening();
      heard.deployments.push(receipt.commit);
    },
    announce: async ({ commit }) => void heard.events.push(commit),
    log: () => undefined,
  };
  return { heard, told };
}

const HALF_AN_HOUR = 1800;

test('GitHub is down for 30 minutes: everything is published at once, and reported once afterwards', async () => {
  const reports = clockedQueue();
  const queue = memoryQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue, reports });
  const tip = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'down' });
  const merges = [push(sample.base, 'main'), push(sample.addition, 'addition'), push(tip, 'down')];
  for (const merge of merges) {
    await queue.send(messageOf(merge));
    await queue.drain((body) => handleMessage(body, world.living('work')));
  }
  expect(queue.aside).toEqual([]);
  const { last } = await statusOf(world.records);
  expect(last).toMatchObject([{ state: 'published' }]);
  const { heard, told } = github(() => reports.now() < HALF_AN_HOUR);
  const ports: ReportPorts = { ...told, records: world.records };
  const failures = await reports.drain(({ body }) => handleReport(body, ports));
  const published = [sample.base, sample.addition];
  expect(heard.statuses.map(({ commit, state }) => [commit, state]).sort()).toEqual(
    published.map((commit) => [commit, 'success']).sort(),
  );
  expect(heard.deployments).toEqual(published);
  expect(heard.events).toEqual(published);
  const late = reports.now() - HALF_AN_HOUR;
  console.log(`GitHub down for ${HALF_AN_HOUR} s: ${failures} tries failed, all was told ${late} s after`);
  expect(late).toBeLessThanOrEqual(300);
  // Whatever comes again after that is told already.
  for (const merge of merges) {
    await queue.send(messageOf(merge));
    await queue.drain((body) => handleMessage(body, world.living('work')));
  }
  await reports.drain(({ body }) => handleReport(body, ports));
  expect(heard.statuses).toHaveLength(published.length);
});

test('what GitHub does not allow is logged, and not tried again', async () => {
  const reports = memoryQueue();
  const queue = memoryQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue, reports });
  await queue.send(messageOf(push(sample.base, 'main')));
  await queue.drain((body) => handleMessage(body, world.living('work')));
  const lines: string[] = [];
  const deny = async (): Promise<void> => {
    throw new PipelineError('denied', 'GitHub answered 403');
  };
  const log = (line: string): void => void lines.push(line);
  const ports = { records: world.records, forge: { report: deny }, deployed: deny, log };
  await reports.drain((body) => handleReport(body, ports));
  expect(reports.aside).toEqual([]);
  expect(lines.sort()).toEqual([
    expect.stringMatching(/^cannot report the deployment of \w+: GitHub answered 403$/),
    expect.stringMatching(/^cannot report the status of \w+: GitHub answered 403$/),
    expect.stringMatching(/^cannot report the status of \w+: GitHub answered 403$/),
  ]);
});

/** A forge that keeps statuses, and whose answers get lost for a while. */
function forgetful(lost: { answers: number; before?: boolean; reads?: 'denied' }) {
  const statuses: CommitStatus[] = [];
  const isSame = (one: CommitStatus | undefined, other: CommitStatus): boolean =>
    JSON.stringify(one) === JSON.stringify(other);
  const forge: Forge = {
    report: async (status) => {
      if (!lost.before) statuses.push(status);
      if (lost.answers-- > 0) throw new PipelineError('unreachable', 'no answer', { retryable: true });
      if (lost.before) statuses.push(status);
    },
    shows: async (status) => {
      if (lost.reads === 'denied') throw new PipelineError('denied', 'GitHub answered 403');
      return isSame(
        statuses.findLast(({ context }) => context === status.context),
        status,
      );
    },
  };
  return { statuses, forge };
}

test.each([
  ['whose answer was lost is not set again', { answers: 2 }, 1],
  ['that was not taken is set later', { answers: 2, before: true }, 1],
  ['that may not be read is set again', { answers: 1, reads: 'denied' as const }, 2],
])('a status %s', async (_, lost, expected) => {
  const { records } = await deliveryWorld({
    ...{ directory: sample.directory, queue: memoryQueue(), reports: memoryQueue() },
  });
  const { statuses, forge } = forgetful({ ...lost });
  const told = async (description: string, tries = 0): Promise<void> => {
    const body = report({ what: 'commit', state: 'failure', description });
    const done = await handleReport(body, { records, forge, log: () => undefined }).then(
      () => true,
      () => false,
    );
    if (!done && tries < 5) await told(description, tries + 1);
  };
  await told('one');
  expect(statuses.map(({ description }) => description)).toEqual(Array(expected).fill('one'));
  // Another one, and then the first one again, are news.
  await told('two');
  await told('one');
  await told('one');
  expect(statuses.slice(expected).map(({ description }) => description)).toEqual(['two', 'one']);
});

test('a status that was taken is not set again where that could not be recorded', async () => {
  const reports = clockedQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue: memoryQueue(), reports });
  const { statuses, forge } = forgetful({ answers: 0 });
  let puts = 0;
  const records: ReportPorts['records'] = {
    ...world.records,
    // PostgreSQL is away when the end is to be recorded.
    put: async (key, bytes) => {
      if (++puts === 2) throw new PipelineError('unreachable', 'the database', { retryable: true });
      await world.records.put(key, bytes);
    },
  };
  const of = { repository: 'sea/catalogs', commit: sample.base };
  await reportCommit({ reports }, of, { state: 'refused', detail: 'no bundle' });
  expect(
    await reports.drain(({ body }) => handleReport(body, { records, forge, log: () => undefined })),
  ).toBe(1);
  expect(statuses).toHaveLength(1);
});

test.each([
  ['of the other queue', JSON.stringify(push('a'.repeat(40), 'main')), 'its kind is "push"'],
  [
    'a tag that is retired of no image',
    report({ what: 'retirement', catalog: 'v4.20', retired: 'keep', image: 'q/i:v4.20' }),
    'it is of the image "q/i:v4.20" with the digest undefined',
  ],
  ['a state of nobody', report({ what: 'commit', state: 'good' }), 'its state is "good"'],
  ['a catalog without a name', report({ what: 'catalog' }), 'its catalog is undefined'],
  ['another thing', report({ what: 'mail', catalog: 'v4.20' }), 'it reports "mail"'],
  [
    'documents of elsewhere',
    report({ what: 'event', catalog: 'v4.20', documents: 'outcomes/x/' }),
    'its documents are "outcomes/x/"',
  ],
])('a report with %s is never handled', async (_, body, why) => {
  const { told } = github(() => false);
  const world = await deliveryWorld({
    directory: sample.directory,
    queue: memoryQueue(),
    reports: memoryQueue(),
  });
  await expect(handleReport(body, { ...told, records: world.records })).rejects.toThrow(why);
});

function report(rest: object): string {
  return JSON.stringify({
    v: 1,
    kind: 'report',
    repository: 'sea/catalogs',
    commit: 'a'.repeat(40),
    ...rest,
  });
}

test('a long status is cut between characters', () => {
  for (const detail of ['\u{1f600}'.repeat(200), `x${'\u{1f600}'.repeat(200)}`]) {
    const outcome = { repository: 'a/b', catalog: 'c', commit: 'd', state: 'failed', detail } as const;
    const { description } = statusFor(outcome, undefined);
    expect([...description]).toHaveLength(140);
    expect(new TextDecoder().decode(new TextEncoder().encode(description))).toBe(description);
  }
});
