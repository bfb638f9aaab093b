/** After a rewritten history, one command publishes again what the branch has now; a history that went on has no need of it. */
import { expect, test } from 'vitest';
import { newEpochs } from '../../functions/new-epoch.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { publishedIn } from '../../pipeline/publish/documents.ts';
import { deliver } from '../fakes/delivery.ts';
import { harbourRepository } from '../fakes/sample.ts';

const SOURCE = { repository: 'sea/catalogs', id: 1, branch: 'trunk', url: 'https://example.com/x.git' };

test('the next epoch of what the branch lost, and of nothing else', async () => {
  const sample = harbourRepository();
  sample.git('branch', '-f', 'trunk', sample.base);
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
    await expect(newEpochs([SOURCE], 'sea/other', ports)).rejects.toThrow(
      'sea/other is not published from here',
    );
    sample.git('branch', '-f', 'trunk', sample.addition);
    await expect(newEpochs([SOURCE], 'sea/catalogs', ports)).rejects.toThrow('needs a new epoch');
    const rewritten = sample.git('commit-tree', `${sample.addition}^{tree}`, '-m', 'rewritten').trim();
    sample.git('branch', '-f', 'trunk', rewritten);
    const messages = await newEpochs([SOURCE], 'sea/catalogs', ports);
    expect(messages).toMatchObject([{ kind: 'catalog', catalog: 'v4.20', commit: rewritten, epoch: 1 }]);
    for (const message of messages) await handleMessage(JSON.stringify(message), ports);
    expect(await publishedIn(ports.records)).toMatchObject([{ commit: rewritten, epoch: 1 }]);
    isDone = true;
  };
  await deliver({ directory: sample.directory, pushes: [push], last });
  expect(isDone).toBe(true);
  sample.remove();
});
