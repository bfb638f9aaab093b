/** What the reconciler finds is healed by what is claimed now, and asked for whatever was told before. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PipelineError } from '../../../../pipeline/error.ts';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import type { Message } from '../../../../pipeline/ports.ts';
import { handleCatalog } from '../../../../pipeline/publish/delivery/catalog.ts';
import { handleMessage } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import type { PushMessage } from '../../../../pipeline/publish/delivery/message.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import type { DeliveryPorts } from '../../../../pipeline/publish/delivery/ports.ts';
import { handlePush } from '../../../../pipeline/publish/delivery/push.ts';
import { reconcileBranch } from '../../../../pipeline/publish/delivery/reconcile.ts';
import { isSettled, statusOf, statusText } from '../../../../pipeline/publish/delivery/status.ts';
import { publishedIn } from '../../../../pipeline/publish/documents.ts';
import { fenceName } from '../../../../pipeline/publish/fence.ts';
import { recordFence } from '../../../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { deliver } from '../../../fakes/delivery.ts';
import { folder } from '../../../fakes/folder.ts';
import { harbourRepository, type SampleRepository, sampleFiles } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const TAG = {
  kind: 'tag',
  registry: 'registry.example.com',
  repository: 'sea/catalog',
  tag: 'v4.20',
} as const;
const SOURCE = { repository: 'sea/catalogs', branch: 'trunk' };

/** Does something in a world in which the sample's first commit was published. */
async function afterFirst(work: (ports: DeliveryPorts) => Promise<void>): Promise<void> {
  sample.git('branch', '-f', 'trunk', sample.base);
  const push: PushMessage = { v: 1, kind: 'push', ...SOURCE, commit: sample.base };
  let isDone = false;
  const last = async (living: () => DeliveryPorts): Promise<void> => {
    await work(living());
    isDone = true;
  };
  await deliver({ directory: sample.directory, pushes: [push], last });
  expect(isDone).toBe(true);
}

/** A merge that is published from its push to its end. */
async function merge(ports: DeliveryPorts, commit: string): Promise<void> {
  for (const catalog of await mergeUnpublished(ports, commit)) await publishOf(ports, commit, catalog);
}

/** @returns the catalogs that are to be published */
async function mergeUnpublished(ports: DeliveryPorts, commit: string): Promise<readonly string[]> {
  sample.git('branch', '-f', 'trunk', commit);
  return handlePush({ v: 1, kind: 'push', ...SOURCE, commit }, ports);
}

function publishOf(ports: DeliveryPorts, commit: string, catalog = 'v4.20') {
  return handleCatalog({ v: 1, kind: 'catalog', ...SOURCE, commit, catalog }, ports);
}

function fenceWith({ fence }: DeliveryPorts, own: Partial<DeliveryPorts['fence']>): DeliveryPorts['fence'] {
  const { read, replace, readLease, replaceLease } = fence;
  return { read, replace, readLease, replaceLease, ...own };
}

/** A commit on top of another one that has the catalog as it was first. */
function takenBack(commit: string): string {
  return sample.commit(
    { [HARBOUR]: sampleFiles()[HARBOUR] ?? '' },
    { parents: [commit], branch: 'taken-back' },
  );
}

function broken(parent: string): string {
  return sample.commit({ [HARBOUR]: 'schema: olm.package\n' }, { parents: [parent], branch: 'broken' });
}

test('a merge that is published meanwhile is not taken for a tag that somebody moved', async () => {
  await afterFirst(async (ports) => {
    const moved: string[] = [];
    let isMerged = false;
    const read: DeliveryPorts['fence']['read'] = async (name) => {
      const claim = await ports.fence.read(name);
      if (!isMerged) {
        isMerged = true;
        await merge(ports, sample.addition);
      }
      return claim;
    };
    const fence = fenceWith(ports, { read });
    const putManifest: DeliveryPorts['registry']['putManifest'] = async (to, manifest) => {
      moved.push(manifest.digest);
      return ports.registry.putManifest(to, manifest);
    };
    const registry = { ...ports.registry, putManifest };
    expect((await reconcileBranch(SOURCE, { ...ports, fence, registry })).healed).toEqual([]);
    expect(moved).toEqual([]);
  });
});

test('two catalogs that the policy gives one tag: neither is published, and the tag is left alone', async () => {
  await afterFirst(async (ports) => {
    const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
    const tip = sample.commit(
      {
        [POLICY_PATH]: policy.replace('sea/catalog:{catalog}', 'sea/catalog:v4.20'),
        'catalogs/v4.21/harbour-operator/catalog.yaml': sample.git('show', `${sample.base}:${HARBOUR}`),
      },
      { parents: [sample.base] },
    );
    sample.git('branch', '-f', 'trunk', tip);
    const before = await ports.registry.resolve(TAG);
    const push: PushMessage = { v: 1, kind: 'push', ...SOURCE, commit: tip };
    const catalogs = await handlePush(push, ports);
    expect(catalogs).toEqual(['v4.20', 'v4.21']);
    for (const catalog of catalogs) {
      const published = await handleCatalog(
        { v: 1, kind: 'catalog', ...SOURCE, commit: tip, catalog },
        ports,
      );
      expect(published).toMatchObject({ kind: 'refused', findings: [{ rule: 'policy/shared-place' }] });
    }
    expect((await reconcileBranch(SOURCE, ports)).healed).toEqual([]);
    expect(await ports.registry.resolve(TAG)).toEqual(before);
  });
});

test('a catalog whose registry refuses keeps the others back from nothing', async () => {
  await afterFirst(async (ports) => {
    const files = {
      [POLICY_PATH]: sample
        .git('show', `${sample.base}:${POLICY_PATH}`)
        .replace('sea/catalog:{catalog}', 'sea/{catalog}:latest'),
      'catalogs/v4.21/harbour-operator/catalog.yaml': sample.git('show', `${sample.base}:${HARBOUR}`),
    };
    const tip = sample.commit(files, { parents: [sample.base] });
    for (const catalog of ['v4.20', 'v4.21']) {
      sample.git('branch', '-f', 'trunk', tip);
      await handleCatalog({ v: 1, kind: 'catalog', ...SOURCE, commit: tip, catalog }, ports);
    }
    const resolve: DeliveryPorts['registry']['resolve'] = async (reference) => {
      if (reference.repository === 'sea/v4.20')
        throw new PipelineError('denied', 'the registry answered 403');
      return ports.registry.resolve(reference);
    };
    await ports.registry.deleteManifest({ ...TAG, repository: 'sea/v4.21', tag: 'latest' });
    const refusing = { ...ports, registry: { ...ports.registry, resolve } };
    const { messages, ...looked } = await reconcileBranch(SOURCE, refusing);
    expect(looked).toEqual({ healed: ['v4.21'], failed: ['v4.20'] });
    // The place that the policy had before.
    expect(messages).toMatchObject([{ kind: 'retire', place: 'registry.example.com/sea/catalog:v4.20' }]);
  });
});

/** Two catalogs at one commit, each with an image of its own; the fence's record of the first cannot be read. */
async function withUnreadFence(work: (ports: DeliveryPorts, tip: string) => Promise<void>): Promise<void> {
  await afterFirst(async (ports) => {
    const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
    const files = {
      [POLICY_PATH]: policy.replace('sea/catalog:{catalog}', 'sea/{catalog}:latest'),
      'catalogs/v4.21/harbour-operator/catalog.yaml': sample.git('show', `${sample.base}:${HARBOUR}`),
    };
    const first = sample.commit(files, { parents: [sample.base] });
    await merge(ports, first);
    const key = `fence/${fenceName('v4.20', 'registry.example.com/sea/v4.20:latest')}`;
    expect(await ports.records.get(key)).toBeDefined();
    await ports.records.put(key, new TextEncoder().encode('spoilt'));
    const tip = sample.commit({ [POLICY_PATH]: `${files[POLICY_PATH]}\n# changed\n` }, { parents: [first] });
    sample.git('branch', '-f', 'trunk', tip);
    await work(ports, tip);
  });
}

const AT_V421 = {
  kind: 'tag',
  registry: 'registry.example.com',
  repository: 'sea/v4.21',
  tag: 'latest',
} as const;

test('a record of the fence that cannot be read keeps the other catalogs of a push back from nothing', async () => {
  await withUnreadFence(async (ports, tip) => {
    const before = await ports.registry.resolve(AT_V421);
    expect(await handlePush({ v: 1, kind: 'push', ...SOURCE, commit: tip }, ports)).toEqual([
      'v4.20',
      'v4.21',
    ]);
    await expect(publishOf(ports, tip, 'v4.20')).rejects.toThrow('is not a valid claim');
    expect(await publishOf(ports, tip, 'v4.21')).toMatchObject({ kind: 'published' });
    expect(await ports.registry.resolve(AT_V421)).toEqual(before);
    const { last } = await statusOf(ports.records);
    expect(last.map(({ catalog, state }) => [catalog, state])).toContainEqual(['v4.20', 'failed']);
  });
});

test('a record of the fence that cannot be read is said by the reconciler, which heals the others', async () => {
  await withUnreadFence(async (ports) => {
    await ports.registry.deleteManifest(AT_V421);
    const lines: string[] = [];
    const looked = await reconcileBranch(SOURCE, { ...ports, log: (line) => lines.push(line) });
    expect(looked).toMatchObject({ healed: ['v4.21'], failed: ['v4.20'] });
    expect(looked.messages.filter(({ kind }) => kind === 'catalog')).toMatchObject([{ catalog: 'v4.21' }]);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^cannot reconcile v4\.20 of sea\/catalogs: fence\/v4\.20\/.* is not a valid claim/,
      ),
    );
  });
});

test.each(['last/sea/catalogs/v4.20', 'published/v4.20/x'])(
  'a record %s that cannot be read hides no other',
  async (key) => {
    await afterFirst(async (ports) => {
      const whole = await statusOf(ports.records);
      expect(whole.last).toHaveLength(1);
      await ports.records.put(key, new TextEncoder().encode('{"state": "published"'));
      await reconcileBranch(SOURCE, ports);
      const status = await statusOf(ports.records);
      expect(isSettled(status)).toBe(false);
      expect(status.unread).toEqual([key]);
      expect(statusText(status)).toContain(`the record ${key} cannot be read`);
      expect(status.published).toEqual(whole.published);
    });
  },
);

test('a table that is lost: the newest commits are claimed anew, though they were published', async () => {
  await afterFirst(async (ports) => {
    const anew = { ...ports, fence: recordFence(directoryRecords(folder())) };
    const { messages } = await reconcileBranch(SOURCE, anew);
    expect(messages).toMatchObject([{ kind: 'catalog', catalog: 'v4.20' }]);
    for (const message of messages) await handleMessage(JSON.stringify(message), anew);
    expect((await reconcileBranch(SOURCE, anew)).messages).toEqual([]);
  });
});

test('a refused merge that is taken back is not the last word for ever', async () => {
  await afterFirst(async (ports) => {
    const refused = broken(sample.base);
    await merge(ports, refused);
    expect(isSettled(await statusOf(ports.records))).toBe(false);
    await merge(ports, takenBack(refused));
    expect(isSettled(await statusOf(ports.records))).toBe(true);
    expect((await reconcileBranch(SOURCE, ports)).messages).toEqual([]);
  });
});

test('a merge that is taken back while it is published is taken back in the registry', async () => {
  await afterFirst(async (ports) => {
    const before = await ports.registry.resolve(TAG);
    const back = takenBack(sample.addition);
    let catalogs: readonly string[] = [];
    const replace: DeliveryPorts['fence']['replace'] = async (...claim) => {
      catalogs = await mergeUnpublished(ports, back);
      return ports.fence.replace(...claim);
    };
    await mergeUnpublished(ports, sample.addition);
    await publishOf({ ...ports, fence: fenceWith(ports, { replace }) }, sample.addition);
    expect(await ports.registry.resolve(TAG)).not.toEqual(before);
    for (const catalog of catalogs) await publishOf(ports, back, catalog);
    expect(await ports.registry.resolve(TAG)).toEqual(before);
  });
});

test('an image that is gone is built again though the newest commit has errors', async () => {
  await afterFirst(async (ports) => {
    const before = await ports.registry.resolve(TAG);
    await merge(ports, broken(sample.base));
    const { registry, repository } = TAG;
    await ports.registry.deleteManifest({
      kind: 'digest',
      registry,
      repository,
      digest: before?.digest ?? '',
    });
    expect(await ports.registry.resolve(TAG)).toBeUndefined();
    for (const message of (await reconcileBranch(SOURCE, ports)).messages)
      await handleMessage(JSON.stringify(message), ports);
    expect(await ports.registry.resolve(TAG)).toEqual(before);
  });
});

test('catalogs do not wait for the report of a newest commit whose policy cannot be used', async () => {
  await afterFirst(async (ports) => {
    const changes = { [POLICY_PATH]: 'nonsense: [' };
    const tip = sample.commit(changes, { parents: [sample.addition], branch: 'overtakes' });
    sample.git('branch', '-f', 'trunk', tip);
    const sent: unknown[] = [];
    const queue = { send: async ({ body }: Message) => void sent.push(JSON.parse(body)) };
    const send = async (): Promise<void> => {
      throw new PipelineError('unreachable', 'the queue answered 502', { retryable: true });
    };
    const push: PushMessage = { v: 1, kind: 'push', ...SOURCE, commit: sample.addition };
    await expect(handlePush(push, { ...ports, queue, reports: { send } })).rejects.toThrow('502');
    expect(sent).toMatchObject([{ commit: tip }, { commit: sample.addition, behind: tip }]);
  });
});

test('a commit that a claim is ahead of is told with the documents of what is published', async () => {
  await afterFirst(async (ports) => {
    const next = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'ahead' });
    sample.git('branch', '-f', 'trunk', next);
    await publishOf(ports, next);
    sample.git('branch', '-f', 'trunk', sample.addition);
    await publishOf(ports, sample.addition);
    const of = { repository: SOURCE.repository, catalog: 'v4.20', commit: sample.addition };
    const [current] = await publishedIn(ports.records);
    expect(await outcomeAt(ports.records, of)).toMatchObject({ state: 'superseded', detail: next });
    expect((await outcomeAt(ports.records, of))?.documents).toBe(current?.documents);
  });
});
