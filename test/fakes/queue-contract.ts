/** What the queue of every host must do, whoever keeps it. */
import { expect } from 'vitest';
import type { Queue } from '../../pipeline/ports.ts';
import type { QueuedMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';

export interface Worker {
  /** Ends at once: what it has taken is not done, and it says so to nobody. */
  kill(): void;
}

export interface QueuePlace {
  readonly queue: Queue;
  /** Starts a worker of its own, as on another machine, which handles several messages at a time. */
  work(handle: (message: QueuedMessage) => Promise<void>): Promise<Worker>;
  /** How often a message is delivered before it is put aside. */
  readonly deliveries: number;
  /** How many messages were put aside. */
  aside(): Promise<number>;
}

const never = (): Promise<never> => new Promise(() => undefined);

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((done) => setTimeout(done, 50));
}

function message(group: string, n: number) {
  return { group, id: `${group}-${n}`, body: JSON.stringify({ group, n }) };
}

/** Groups are in order and one message of each at a time, whoever handles them; different groups go side by side. */
export async function expectOrder({ queue, work }: QueuePlace): Promise<void> {
  const groups = ['a', 'b', 'c'];
  const seen = new Map<string, number[]>(groups.map((group) => [group, []]));
  const busy = new Set<string>();
  let together = 0;
  const broken: string[] = [];
  const handle = async ({ body }: QueuedMessage): Promise<void> => {
    const { group, n } = JSON.parse(body);
    if (busy.has(group)) broken.push(`two of ${group} at a time`);
    busy.add(group);
    together = Math.max(together, busy.size);
    await new Promise((done) => setTimeout(done, 100));
    seen.get(group)?.push(n);
    busy.delete(group);
  };
  for (let n = 1; n <= 5; n++) for (const group of groups) await queue.send(message(group, n));
  await work(handle);
  await work(handle);
  await until(() => [...seen.values()].every((all) => all.length >= 5));
  expect(Object.fromEntries(seen)).toEqual({ a: [1, 2, 3, 4, 5], b: [1, 2, 3, 4, 5], c: [1, 2, 3, 4, 5] });
  expect(broken).toEqual([]);
  expect(together).toBeGreaterThan(1);
}

/** Messages of one id are one message while it waits; another id of the same words is another. */
export async function expectOneOfAnId({ queue, work }: QueuePlace): Promise<void> {
  const seen: string[] = [];
  const twice = message('a', 1);
  await queue.send(twice);
  await queue.send(twice);
  await queue.send({ ...twice, id: 'another' });
  await queue.send(message('a', 2));
  await work(async ({ body }) => void seen.push(body));
  await until(() => seen.includes(message('a', 2).body));
  expect(seen).toEqual([twice.body, twice.body, message('a', 2).body]);
}

/** What fails comes again, and nothing of its group overtakes it; other groups do not wait. */
export async function expectAgain({ queue, work }: QueuePlace): Promise<void> {
  const seen: string[] = [];
  await queue.send(message('a', 1));
  await queue.send(message('a', 2));
  await queue.send(message('b', 1));
  await work(async ({ body, group, tries }) => {
    const { n } = JSON.parse(body);
    seen.push(`${group}${n} ${tries}`);
    if (group === 'a' && n === 1 && tries < 3) throw new Error('it fails');
  });
  await until(() => seen.length >= 5);
  expect(seen.filter((one) => one.startsWith('a'))).toEqual(['a1 1', 'a1 2', 'a1 3', 'a2 1']);
  expect(seen.indexOf('b1 1')).toBeLessThan(seen.indexOf('a1 3'));
}

/** What a dead worker had taken is delivered to another one; nobody else sees it before. */
export async function expectDeath({ queue, work }: QueuePlace): Promise<void> {
  const seen: string[] = [];
  const taken: string[] = [];
  await queue.send(message('a', 1));
  await queue.send(message('a', 2));
  const first = await work(({ body }) => {
    taken.push(body);
    return never();
  });
  await until(() => taken.length > 0);
  const second = async ({ body, tries }: QueuedMessage): Promise<void> =>
    void seen.push(`${JSON.parse(body).n} ${tries}`);
  await work(second);
  await new Promise((done) => setTimeout(done, 1500));
  expect(seen, 'its group waits').toEqual([]);
  first.kill();
  await until(() => seen.length >= 2);
  expect(seen).toEqual(['1 2', '2 1']);
  expect(taken).toHaveLength(1);
}

/** What never succeeds is put aside after so many deliveries, and what stands behind it goes on. */
export async function expectPoison({ queue, work, deliveries, aside }: QueuePlace): Promise<void> {
  let failures = 0;
  const seen: string[] = [];
  await queue.send({ group: 'a', id: 'poison', body: 'not even JSON' });
  await queue.send(message('a', 2));
  await work(async ({ body }) => {
    if (body === 'not even JSON') {
      failures++;
      throw new Error('poison');
    }
    seen.push(body);
  });
  await until(() => seen.length > 0);
  expect(failures).toBe(deliveries);
  await until(async () => (await aside()) > 0);
  expect(await aside()).toBe(1);
}

/** A check whose process is killed is done with its message, and the next one of its group comes. */
export async function expectEndedCheck(
  { queue, work, aside }: QueuePlace,
  check: () => Promise<void>,
): Promise<void> {
  const seen: string[] = [];
  let done = 0;
  await queue.send(message('a', 1));
  await queue.send(message('a', 2));
  await work(async ({ body, tries }) => {
    seen.push(`${JSON.parse(body).n} ${tries}`);
    await check();
    done++;
  });
  await until(() => done >= 2);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(seen).toEqual(['1 1', '2 1']);
  expect(await aside()).toBe(0);
}
