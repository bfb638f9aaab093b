/** A catalog that the branch or its policy has no more is retired: found, told, and its image treated as the policy says. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import type { Message, Queue, Retirement } from '../../../../pipeline/ports.ts';
import { handleMessage } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../../../pipeline/publish/delivery/local.ts';
import { messageOf, type PushMessage } from '../../../../pipeline/publish/delivery/message.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import type { DeliveryPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { reconcileBranch } from '../../../../pipeline/publish/delivery/reconcile.ts';
import { handleReport } from '../../../../pipeline/publish/delivery/report.ts';
import { isSettled, statusOf, statusText } from '../../../../pipeline/publish/delivery/status.ts';
import { publishedIn } from '../../../../pipeline/publish/documents.ts';
import { deliver } from '../../../fakes/delivery.ts';
import { harbourRepository, type SampleRepository, sampleFiles } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const SOURCE = { repository: 'sea/catalogs', branch: 'trunk' };
const PLACE = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;
const TAG = { kind: 'tag', ...PLACE, tag: 'v4.20' } as const;

interface Port {
  readonly ports: DeliveryPorts;
  /** A push of a commit and all messages that it leads to. */
  readonly merge: (commit: string, reports?: Queue) => Promise<readonly string[]>;
}

/** Does something in a world in which the sample's first commit was published. */
async function afterFirst(work: (port: Port) => Promise<void>): Promise<void> {
  sample.git('branch', '-f', 'trunk', sample.base);
  const push = (commit: string): PushMessage => ({ v: 1, kind: 'push', ...SOURCE, commit });
  let isDone = false;
  await deliver({
    directory: sample.directory,
    pushes: [push(sample.base)],
    last: async (living) => {
      const sent: Message[] = [];
      const ports = { ...living(), queue: { send: async (one: Message) => void sent.push(one) } };
      const merge = async (commit: string, reports: Queue = ports.reports): Promise<string[]> => {
        sample.git('branch', '-f', 'trunk', commit);
        await ports.queue.send(messageOf(push(commit)));
        const kinds: string[] = [];
        for (let one = sent.shift(); one; one = sent.shift()) {
          kinds.push(JSON.parse(one.body).kind);
          await handleMessage(one.body, { ...ports, reports });
        }
        return kinds;
      };
      await work({ ports, merge });
      isDone = true;
    },
  });
  expect(isDone).toBe(true);
}

function policyWith(retired: Retirement): string {
  const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  return policy.replace('publish:\n', `publish:\n  retired: ${retired}\n`);
}

/** A commit without the catalog's folder. */
function removal(retired: Retirement, parent = sample.base): string {
  const files = { [HARBOUR]: null, [POLICY_PATH]: policyWith(retired) };
  return sample.commit(files, { parents: [parent], branch: 'removal' });
}

async function tagsOf({ registry }: DeliveryPorts): Promise<string[]> {
  const tags: string[] = [];
  for await (const tag of registry.listTags(PLACE)) tags.push(tag);
  return tags.sort();
}

test('keep: the image stays under its tag, the record and the status of the commit say that it is retired', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const before = await tagsOf(ports);
    const commit = removal('keep');
    expect(await merge(commit)).toEqual(['push', 'retire']);
    expect(await tagsOf(ports)).toEqual(before);
    const [record] = await publishedIn(ports.records);
    expect(record).toMatchObject({ catalog: 'v4.20', commit, retired: 'keep' });
    const outcome = await outcomeAt(ports.records, { ...SOURCE, catalog: 'v4.20', commit });
    expect(outcome).toMatchObject({ state: 'retired', detail: 'v4.20 is not in trunk: its image stays' });
    const status = await statusOf(ports.records);
    expect(isSettled(status)).toBe(true);
    expect(statusText(status)).toContain(
      'v4.20  registry.example.com/sea/catalog:v4.20  (retired, image kept)\n',
    );
    expect(await merge(commit), 'it is retired once').toEqual(['push']);
    expect(await reconcileBranch(SOURCE, ports)).toEqual({ healed: [], failed: [], messages: [] });
  });
});

test('whoever subscribed is told once, with what became of the image', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const image = await ports.registry.resolve(TAG);
    const reports = memoryQueue();
    const commit = removal('retag');
    await merge(commit, reports);
    await merge(commit, reports);
    const told: unknown[] = [];
    const announceRetired = async (notice: unknown): Promise<void> => void told.push(notice);
    const forge = { report: async (): Promise<void> => undefined };
    const { records, log } = ports;
    await reports.drain((body) => handleReport(body, { records, log, forge, announceRetired }));
    const of = { repository: SOURCE.repository, catalog: 'v4.20', commit };
    const place = 'registry.example.com/sea/catalog:v4.20';
    expect(told).toEqual([{ ...of, image: place, digest: image?.digest, retired: 'retag' }]);
  });
});

test('retag: the tag is gone, and another one names the image', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const image = await ports.registry.resolve(TAG);
    const immutable = (await tagsOf(ports)).filter((tag) => tag !== 'v4.20');
    await merge(removal('retag'));
    const retired = `retired-v4.20-${image?.digest.slice(7, 19)}`;
    expect(await tagsOf(ports)).toEqual([retired, ...immutable]);
    expect((await ports.registry.resolve({ ...TAG, tag: retired }))?.digest).toBe(image?.digest);
  });
});

test('delete: no tag of the catalog is left, and tags of others stay', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const image = await ports.registry.resolve(TAG);
    await merge(removal('delete'));
    expect(await tagsOf(ports)).toEqual([]);
    expect(
      await ports.registry.getManifest({ kind: 'digest', ...PLACE, digest: image?.digest ?? '' }),
    ).toBeUndefined();
  });
  await afterFirst(async ({ ports, merge }) => {
    const image = await ports.registry.getManifest(TAG);
    if (image) await ports.registry.putManifest({ ...TAG, tag: 'production' }, image);
    await merge(removal('delete'));
    expect(await tagsOf(ports)).not.toContain('v4.20');
    expect((await ports.registry.resolve({ ...TAG, tag: 'production' }))?.digest).toBe(image?.digest);
  });
});

test.each<Retirement>(['keep', 'retag', 'delete'])(
  '%s: a catalog that comes back is published again',
  async (retired) => {
    await afterFirst(async ({ ports, merge }) => {
      const before = await ports.registry.resolve(TAG);
      const gone = removal(retired);
      await merge(gone);
      const back = sample.commit(
        { [HARBOUR]: sampleFiles()[HARBOUR] ?? '' },
        { parents: [gone], branch: 'back' },
      );
      expect(await merge(back)).toEqual(['push', 'catalog']);
      expect(await ports.registry.resolve(TAG)).toEqual(before);
      const [record] = await publishedIn(ports.records);
      expect(record).toMatchObject({ commit: back });
      expect(record?.retired).toBeUndefined();
    });
  },
);

test('a message of an older commit that comes late publishes nothing', async () => {
  await afterFirst(async ({ ports, merge }) => {
    await merge(removal('retag', sample.addition));
    const before = await tagsOf(ports);
    const late = { v: 1, kind: 'catalog', ...SOURCE, commit: sample.addition, catalog: 'v4.20' } as const;
    await handleMessage(messageOf(late).body, ports);
    expect(await tagsOf(ports).then((tags) => tags.includes('v4.20'))).toBe(false);
    expect(before.every((tag) => tag !== 'v4.20')).toBe(true);
    const outcome = await outcomeAt(ports.records, late);
    expect(outcome?.state).toBe('retired');
  });
});

test('a catalog that the policy does not publish any more is retired; one that no place is known of is not', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
    const dropped = policy.replace(/publish:(?:.|\n)*/, 'publish: {catalogs: {}, retired: retag}\n');
    await merge(sample.commit({ [POLICY_PATH]: dropped }, { parents: [sample.base], branch: 'dropped' }));
    expect((await publishedIn(ports.records))[0]?.retired).toBe('retag');
  });
  await afterFirst(async ({ ports, merge }) => {
    const shared = policyWith('delete').replace('sea/catalog:{catalog}', 'sea/catalog:v4.20');
    const files = {
      [POLICY_PATH]: shared,
      'catalogs/v4.21/harbour-operator/catalog.yaml': sampleFiles()[HARBOUR] ?? '',
    };
    const kinds = await merge(sample.commit(files, { parents: [sample.base], branch: 'shared' }));
    expect(kinds).not.toContain('retire');
    expect(await ports.registry.resolve(TAG)).toBeDefined();
  });
});

test('a catalog that got another name at the same place: the tag is left to it', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const files = {
      [POLICY_PATH]: policyWith('delete').replace('sea/catalog:{catalog}', 'sea/catalog:v4.20'),
      [HARBOUR]: null,
      'catalogs/v4.21/harbour-operator/catalog.yaml': sampleFiles()[HARBOUR] ?? '',
    };
    const kinds = await merge(sample.commit(files, { parents: [sample.base], branch: 'renamed' }));
    expect(kinds).toEqual(['push', 'catalog', 'retire']);
    const records = await publishedIn(ports.records);
    expect(records.map(({ catalog, retired }) => [catalog, retired]).sort()).toEqual([
      ['v4.20', 'keep'],
      ['v4.21', undefined],
    ]);
    expect(await ports.registry.resolve(TAG)).toBeDefined();
  });
});

test('a branch that another one has left behind, and another branch, retire nothing', async () => {
  await afterFirst(async ({ ports, merge }) => {
    const side = removal('delete');
    await merge(sample.addition);
    sample.git('branch', '-f', 'trunk', side);
    expect((await reconcileBranch(SOURCE, ports)).messages).toEqual([]);
    sample.git('branch', '-f', 'other', removal('delete', sample.addition));
    expect((await reconcileBranch({ ...SOURCE, branch: 'other' }, ports)).messages).toEqual([]);
    sample.git('branch', '-f', 'trunk', 'other');
    expect((await reconcileBranch(SOURCE, ports)).messages).toMatchObject([
      { kind: 'retire', catalog: 'v4.20' },
    ]);
  });
});
