/** A function dies at every call of a port, and at several by chance; each message comes again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PushMessage } from '../../pipeline/delivery/message.ts';
import { deliver } from '../fakes/delivery.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  // One package: several hundred runs.
  const without = (name: string) => [`catalogs/v4.20/${name}/catalog.yaml`, null] as const;
  sample = sampleRepository(Object.fromEntries(['ferry-operator', 'lighthouse-operator'].map(without)));
});
afterAll(() => sample.remove());

const push = (commit: string, branch: string): PushMessage => ({
  v: 1,
  kind: 'push',
  repository: 'sea/catalogs',
  branch,
  commit,
});

function pushes(): PushMessage[] {
  return [push(sample.base, 'main'), push(sample.addition, 'addition'), push(sample.base, 'addition')];
}

test('at every call, before it was done and after', async () => {
  const run = { directory: sample.directory, pushes: pushes() };
  const undisturbed = await deliver(run);
  let points = 0;
  for (let at = 1; at <= undisturbed.calls.length; at++) {
    for (const how of ['before', 'after'] as const) {
      const disturbed = await deliver({ ...run, fate: (call) => (call === at ? how : undefined) });
      expect(disturbed.state, `${how} call ${at}, ${undisturbed.calls[at - 1]}`).toEqual(undisturbed.state);
      points++;
    }
  }
  console.log(
    `${points} deaths, one in each run: ${undisturbed.calls.length} calls of ports, before and after`,
  );
  expect(points).toBeGreaterThan(100);
}, 300_000);

test('several in one run, at random', async () => {
  const run = { directory: sample.directory, pushes: pushes(), attempts: 50 };
  const undisturbed = await deliver(run);
  for (let seed = 1; seed <= 20; seed++) {
    const random = generator(seed);
    let deaths = 0;
    const fate = () => {
      if (deaths >= 8 || random() >= 0.06) return undefined;
      deaths++;
      return random() < 0.5 ? 'before' : 'after';
    };
    const disturbed = await deliver({ ...run, fate });
    expect(disturbed.state, `seed ${seed}, ${deaths} deaths`).toEqual(undisturbed.state);
  }
});

/** Numbers from 0 to 1 that follow from the seed. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
