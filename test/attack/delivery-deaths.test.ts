/** A function dies at every call of a port, and at several by chance; each message comes again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PushMessage } from '../../pipeline/publish/delivery/message.ts';
import { deliver } from '../fakes/delivery.ts';
import { generator } from '../fakes/generator.ts';
import { inParallel } from '../fakes/parallel.ts';
import { harbourRepository, type SampleRepository } from '../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  // One package: several hundred runs.
  sample = harbourRepository();
  const broken = { 'catalogs/v4.20/harbour-operator/catalog.yaml': 'schema: olm.package\n' };
  sample.commit(broken, { parents: [sample.addition], branch: 'refused' });
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
  // The second comes behind a newest commit that is refused, the third too late.
  return [push(sample.base, 'main'), push(sample.addition, 'refused'), push(sample.base, 'addition')];
}

test('at every call, before it was done and after', async () => {
  const run = { directory: sample.directory, pushes: pushes() };
  const undisturbed = await deliver(run);
  const points = undisturbed.calls.flatMap((name, i) =>
    (['before', 'after'] as const).map((how) => ({ at: i + 1, how, name })),
  );
  await inParallel(points, async ({ at, how, name }) => {
    const disturbed = await deliver({ ...run, fate: (call) => (call === at ? how : undefined) });
    expect(disturbed.state, `${how} call ${at}, ${name}`).toEqual(undisturbed.state);
  });
  for (const handler of ['push', 'catalog']) {
    const count = undisturbed.callers.filter((caller) => caller === handler).length;
    console.log(`${handler}: ${2 * count} deaths, one in each run: ${count} calls, before and after`);
  }
  expect(points.length).toBeGreaterThan(100);
}, 900_000);

test('several in one run, at random', async () => {
  const run = { directory: sample.directory, pushes: pushes(), attempts: 50 };
  const undisturbed = await deliver(run);
  const seeds = Array.from({ length: 20 }, (_, i) => i + 1);
  await inParallel(seeds, async (seed) => {
    const random = generator(seed);
    let deaths = 0;
    const fate = () => {
      if (deaths >= 8 || random() >= 0.06) return undefined;
      deaths++;
      return random() < 0.5 ? 'before' : 'after';
    };
    const disturbed = await deliver({ ...run, fate });
    expect(disturbed.state, `seed ${seed}, ${deaths} deaths`).toEqual(undisturbed.state);
  });
}, 900_000);
