/** The records of the configurations that share a path of a registry. */
import { expect, test } from 'vitest';
import { needsOf, type SyncRecord, whoNeeds } from '../../../catalog/mirror/freshness/sync-record.ts';
import { PipelineError } from '../../../pipeline/error.ts';
import { beginSync, recordsAt } from '../../../pipeline/mirror/sync-records.ts';
import { openLayout } from '../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../pipeline/oci/registry/layout/registry.ts';
import type { Registry } from '../../../pipeline/ports.ts';
import { folder } from '../../fakes/folder.ts';

const AT = recordsAt({ registry: 'mirror.example.com', path: 'olm' });
const DIGEST = `sha256:${'a'.repeat(64)}`;
const now = (): Date => new Date('2026-03-01T00:00:00Z');
const image = (tag: string) => ({
  source: `quay.io/acme/app@${DIGEST}`,
  destination: `mirror.example.com/olm/app:${tag}`,
});
const wanted = (id: string, ...tags: string[]) => ({
  id,
  name: id,
  isNamed: false,
  needs: needsOf([], tags.map(image)),
});

async function layout(): Promise<Registry> {
  return layoutRegistry(await openLayout(folder(), { create: true }));
}

/** A registry that denies to list tags, until something was written or for ever. */
async function denying(until: 'written' | 'never'): Promise<Registry> {
  const registry = await layout();
  let isWritten = false;
  return {
    ...registry,
    putManifest: async (...words) => {
      isWritten = true;
      return registry.putManifest(...words);
    },
    async *listTags(of) {
      if (!isWritten || until === 'never') throw new PipelineError('denied', 'not for you');
      yield* registry.listTags(of);
    },
  };
}

test('what a configuration needed before stays in its record until it settles', async () => {
  const registry = await layout();
  const ours = await beginSync(AT, wanted('ours', 'v1'), { registry, now });
  const before = await beginSync(AT, wanted('theirs', 'v1'), { registry, now });
  await before.settle();
  const next = await beginSync(AT, wanted('theirs', 'v2'), { registry, now });
  const needs = async () =>
    (await ours.others()).flatMap((one) => one.needs.map(({ destination }) => destination));
  expect(await needs()).toEqual(['mirror.example.com/olm/app:v1', 'mirror.example.com/olm/app:v2']);
  await next.settle();
  expect(await needs()).toEqual(['mirror.example.com/olm/app:v2']);
});

test('a registry that denies a repository that does not exist yet', async () => {
  const registry = await denying('written');
  const records = await beginSync(AT, wanted('ours', 'v1'), { registry, now });
  expect(await records.others()).toEqual([]);
});

test('a registry that never lets the records be listed', async () => {
  const registry = await denying('never');
  await expect(beginSync(AT, wanted('ours', 'v1'), { registry, now })).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringMatching(
      /^the records in mirror\.example\.com\/olm\/portolan-records, .* nothing is deleted: not for you$/,
    ),
  });
});

test('56: a registry that hides the records once they are written: nothing is deleted', async () => {
  const registry = await layout();
  const records = await beginSync(AT, wanted('ours', 'v1'), { registry, now });
  expect(await records.others()).toEqual([]);
  registry.listTags = async function* () {};
  await expect(records.others()).rejects.toMatchObject({
    message: expect.stringContaining('does not list the record of this configuration'),
  });
});

test('an image is needed by its tag, and by its digest under another tag of the repository', () => {
  const record: SyncRecord = {
    ...wanted('theirs'),
    time: '',
    catalogs: [],
    needs: needsOf([], [image('v1')]).needs,
  };
  const { source } = image('v1');
  expect(whoNeeds([record], { ...image('v1'), source: 'quay.io/acme/app:v1' })).toBe(record);
  expect(whoNeeds([record], image('v2'))).toBe(record);
  expect(whoNeeds([record], { source, destination: 'mirror.example.com/olm/copy:v1' })).toBeUndefined();
  expect(whoNeeds([record], { ...image('v2'), source: 'quay.io/acme/app:v2' })).toBeUndefined();
});

test('a configuration needs the same, in whatever order its mapping names the images', () => {
  expect(needsOf([], ['b', 'c', 'a'].map(image))).toEqual(needsOf([], ['a', 'b', 'c'].map(image)));
});
