import { expect, test } from 'vitest';
import { resetFence } from '../../../functions/kubernetes/records.ts';
import type { DeliveryPorts } from '../../../pipeline/publish/delivery/ports.ts';
import { deliver } from '../../fakes/delivery.ts';
import { harbourRepository, sampleFiles } from '../../fakes/sample.ts';

const source = (branch: string) => ({
  repository: 'sea/catalogs',
  id: 1,
  branch,
  url: 'https://example.com/x.git',
});

test('a fence is written anew for the branch that publishes the catalog, and for no other', async () => {
  const sample = harbourRepository();
  sample.git('branch', '-f', 'trunk', sample.base);
  const gone = Object.fromEntries(
    Object.keys(sampleFiles()).flatMap((path) => (path.startsWith('catalogs/') ? [[path, null]] : [])),
  );
  sample.commit(gone, { parents: [sample.base], branch: 'empty' });
  const push = {
    v: 1,
    kind: 'push',
    repository: 'sea/catalogs',
    branch: 'trunk',
    commit: sample.base,
  } as const;
  let isDone = false;
  const last = async (living: () => DeliveryPorts): Promise<void> => {
    const ports = living();
    const { records } = ports;
    const store = {
      get: records.get,
      replace: records.replace,
      remove: async () => true,
    };
    const [key = ''] = await records.list('fence/');
    const before = await records.get(key);
    await records.put(key, new TextEncoder().encode('broken'));
    const sources = [source('empty'), source('trunk')];
    const about = { repository: 'sea/catalogs', catalog: 'v4.20' };
    const reset = await resetFence(sources, about, ports, store);
    expect(reset.message).toMatchObject({
      branch: 'trunk',
      commit: sample.base,
      catalog: 'v4.20',
      again: true,
    });
    expect(reset.lines).toEqual([expect.stringContaining(`the fence names ${sample.base} again`)]);
    expect(new TextDecoder().decode((await records.get(key))?.bytes)).toContain(sample.base);
    expect(before).toBeDefined();
    await expect(resetFence(sources, { ...about, catalog: 'v4.2O' }, ports, store)).rejects.toThrow(
      'no branch of sea/catalogs publishes "v4.2O"',
    );
    isDone = true;
  };
  await deliver({ directory: sample.directory, pushes: [push], last });
  expect(isDone).toBe(true);
  sample.remove();
});
