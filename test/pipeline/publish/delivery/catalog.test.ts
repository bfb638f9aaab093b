/** What is told of a commit whose catalog was published, by its own message or by another publisher. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fence } from '../../../../pipeline/ports.ts';
import { handleCatalog } from '../../../../pipeline/publish/delivery/catalog.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/memory-queue.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import { statusOf } from '../../../../pipeline/publish/delivery/status.ts';
import { deliveryWorld } from '../../../fakes/delivery.ts';
import { manifestOf } from '../../../fakes/image.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

const PLACE = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;

test('a commit that another publisher publishes with another digest meanwhile is published, not superseded', async () => {
  const world = await deliveryWorld({ directory: sample.directory, queue: memoryQueue() });
  const ports = world.living('catalog');
  let other = '';
  // The other one built it on what the tag of the base image names since.
  const replace: Fence['replace'] = async (name, claim, standing) => {
    const ours = await ports.fence.replace(name, claim, standing);
    const built = await ports.registry.getManifest({ kind: 'digest', ...PLACE, digest: claim.digest });
    const { mediaType = '', bytes } = built ?? {};
    const manifest = manifestOf(mediaType, {
      ...JSON.parse(new TextDecoder().decode(bytes)),
      annotations: { base: 'moved' },
    });
    other = manifest.digest;
    await ports.registry.putManifest({ kind: 'digest', ...PLACE, digest: other }, manifest);
    return (await ports.fence.replace(name, { ...claim, digest: other }, ours)) && ours;
  };
  const { read, readLease, replaceLease } = ports.fence;
  const fence: Fence = { read, replace, readLease, replaceLease };
  const of = { repository: 'sea/catalogs', catalog: 'v4.20', commit: sample.base };
  const published = await handleCatalog(
    { v: 1, kind: 'catalog', branch: 'main', ...of },
    { ...ports, fence },
  );
  expect(published).toMatchObject({ kind: 'superseded', by: { commit: sample.base, digest: other } });
  const tag = await world.registry.resolve({ kind: 'tag', ...PLACE, tag: 'v4.20' });
  expect(tag?.digest).toBe(other);
  const outcome = await outcomeAt(world.records, of);
  expect(outcome).toMatchObject({ state: 'published', detail: other });
  expect(outcome?.documents).toContain(other.slice('sha256:'.length, 'sha256:'.length + 16));
  expect([...world.statuses.values()].at(-1)).toMatchObject({
    state: 'success',
    description: `published: ${other}`,
  });
  expect((await statusOf(world.records)).last).toMatchObject([{ state: 'published', commit: sample.base }]);
});
