/** A newest commit that cannot be published keeps back nothing that stands behind it in the queue. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import { handleDelivery } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import { messageOf, type PushMessage, readWork } from '../../../../pipeline/publish/delivery/message.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import type { DeliveryPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { clockedQueue } from '../../../fakes/clocked-queue.ts';
import { Death, deliveryWorld } from '../../../fakes/delivery.ts';
import { harbourRepository, type SampleRepository, sampleFiles } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

/** The newest commit's base image does not exist. */
function failing(): string {
  const policy = (sampleFiles()[POLICY_PATH] ?? '').replaceAll(
    /^( *)image: .*$/gm,
    '$&\n$1base: registry.example.com/sea/none:x',
  );
  return sample.commit({ [POLICY_PATH]: policy }, { parents: [sample.addition], branch: 'fails' });
}

const CATALOG = { repository: 'sea/catalogs', catalog: 'v4.20' } as const;

/** Pushes of a good commit and of a newest one that fails, both on the branch when they are handled. */
async function burst(tip: string, living: (ports: DeliveryPorts, body: string) => DeliveryPorts) {
  const queue = clockedQueue({ attempts: 12 });
  const world = await deliveryWorld({ directory: sample.directory, queue, reports: memoryQueue() });
  for (const commit of [sample.addition, tip]) {
    const push: PushMessage = {
      v: 1,
      kind: 'push',
      repository: CATALOG.repository,
      branch: 'fails',
      commit,
    };
    await queue.send(messageOf(push));
  }
  let publishedAt: number | undefined;
  await queue.drain(async (message) => {
    const delivered = { ...message, id: `sqs ${message.id}` };
    await handleDelivery(delivered, living(world.living('work'), message.body));
    const good = await outcomeAt(world.records, { ...CATALOG, commit: sample.addition });
    if (good?.state === 'published') publishedAt ??= queue.now();
  });
  return { queue, world, publishedAt };
}

test('the newest commit fails every time: the good one behind it is published at once', async () => {
  const tip = failing();
  const { queue, world, publishedAt } = await burst(tip, (ports) => ports);
  expect(publishedAt).toBe(0);
  expect(queue.aside.map(({ body }) => readWork(body))).toMatchObject([{ kind: 'catalog', commit: tip }]);
  expect(await outcomeAt(world.records, { ...CATALOG, commit: tip })).toMatchObject({ state: 'failed' });
  console.log(
    `the good commit is published after ${publishedAt} s, the other is put aside after ${queue.now()} s`,
  );
});

test('the newest commit kills its function every time: the good one is published when that is known', async () => {
  const tip = failing();
  let deaths = 0;
  const { queue, world, publishedAt } = await burst(tip, (ports, body) => {
    const work = readWork(body);
    if (work.kind !== 'catalog' || work.commit !== tip) return ports;
    let isDead = false;
    const open: DeliveryPorts['open'] = async () => {
      deaths++;
      isDead = true;
      throw new Death();
    };
    const send: DeliveryPorts['queue']['send'] = async (message) => {
      if (isDead) throw new Death();
      await ports.queue.send(message);
    };
    return { ...ports, open, queue: { send } };
  });
  expect(deaths).toBeGreaterThan(1);
  expect(publishedAt).toBe(660);
  expect(queue.aside.map(({ body }) => readWork(body))).toMatchObject([{ kind: 'catalog', commit: tip }]);
  expect(await outcomeAt(world.records, { ...CATALOG, commit: tip })).toMatchObject({
    state: 'failed',
    detail: 'the worker stopped before the end, out of time or memory',
  });
});

test('a message that is done is not sent again, and one that is alone stays where it is', async () => {
  const sent: unknown[] = [];
  const queue = { send: async (message: unknown) => void sent.push(message) };
  const world = await deliveryWorld({ directory: sample.directory, queue, reports: memoryQueue() });
  const work = { v: 1, kind: 'catalog', branch: 'main', ...CATALOG, commit: sample.base } as const;
  const message = { ...messageOf(work), tries: 1 };
  expect(await handleDelivery(message, world.living('work'))).toBeUndefined();
  const wrong = {
    ...messageOf({ ...work, branch: 'none', commit: sample.addition }),
    group: 'of its own',
    tries: 2,
  };
  await expect(handleDelivery(wrong, world.living('work'))).rejects.toThrow();
  expect(sent).toEqual([]);
});
