/** What is told of a commit whose catalog was published, by its own message or by another publisher. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import type { Fence, Message } from '../../../../pipeline/ports.ts';
import { handleCatalog } from '../../../../pipeline/publish/delivery/catalog.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import { handleReport } from '../../../../pipeline/publish/delivery/report.ts';
import { statusOf } from '../../../../pipeline/publish/delivery/status.ts';
import { deliveryWorld } from '../../../fakes/delivery.ts';
import { manifestOf } from '../../../fakes/image.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

test('what is published does not fail, whatever cannot be reported of it; it is when the message comes again', async () => {
  const reports = memoryQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue: memoryQueue(), reports });
  const ports = world.living('catalog');
  const of = { repository: 'sea/catalogs', catalog: 'v4.20', commit: sample.base };
  const message = { v: 1, kind: 'catalog', branch: 'main', ...of } as const;
  const send = async ({ body }: Message): Promise<void> => {
    if (body.includes('"what":"event"'))
      throw new PipelineError('unreachable', 'the queue answered 503', { retryable: true });
  };
  await expect(handleCatalog(message, { ...ports, reports: { send } })).rejects.toThrow('503');
  expect(await world.registry.resolve({ kind: 'tag', ...PLACE, tag: 'v4.20' })).toBeDefined();
  expect(await outcomeAt(world.records, of)).toMatchObject({ state: 'pending' });
  await handleCatalog(message, ports);
  await reports.drain((body) => handleReport(body, ports));
  expect([...world.statuses.values()]).toMatchObject([{ state: 'success' }]);
  expect([...world.deployments.keys()]).toEqual([`${sample.base} v4.20`]);
});

const PLACE = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;

test('a commit that another publisher publishes with another digest meanwhile is published, not superseded', async () => {
  const reports = memoryQueue();
  const world = await deliveryWorld({ directory: sample.directory, queue: memoryQueue(), reports });
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
  await reports.drain((body) => handleReport(body, ports));
  expect([...world.statuses.values()].at(-1)).toMatchObject({
    state: 'success',
    description: `published: ${other}`,
  });
  expect((await statusOf(world.records)).last).toMatchObject([{ state: 'published', commit: sample.base }]);
});
