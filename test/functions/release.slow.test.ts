/** Functions without a job release the bundles of a push as the App, before its catalogs are published. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaserFor } from '../../functions/release.ts';
import { type BundleName, builtBundle, folderOf } from '../../pipeline/catalogs/release/bundle-image.ts';
import { treeRepository } from '../../pipeline/catalogs/release/release-repository.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import type { CommitStatus, Message, RecordStore, Registry } from '../../pipeline/ports.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf, type PushMessage, readWork } from '../../pipeline/publish/delivery/message.ts';
import { outcomeAt } from '../../pipeline/publish/delivery/outcome.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { reconcileBranch } from '../../pipeline/publish/delivery/reconcile.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { bundle, documents, POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { basicTemplate, bundleFiles, CI, releaseConfig, withoutInstallModes } from '../fakes/operators.ts';
import { registry as startRegistry } from '../fakes/registry.ts';

const FROM = { repository: 'example/catalogs', branch: 'main' };
/** In the tests it comes to name another bundle's image; the other one has what the template names. */
const NAMED = 'catalogs/v4.21/quay/catalog.yaml';
const OTHER = 'catalogs/v4.20/etcd/catalog.yaml';

let hub: Hub;
let host: string;
let registry: Registry;
let records: RecordStore;
let isDown: boolean;
beforeEach(async () => {
  ({ host } = await startRegistry());
  registry = testClient([host]);
  records = directoryRecords(folder());
  isDown = false;
  hub = await openHub({
    [POLICY_PATH]: `${POLICY}release: {bundles: '${host}/org/{package}-bundle:v{version}', mode: propose}
publish: {catalogs: {'v*': {image: '${host}/org/catalog:{catalog}'}}}
`,
    ...bundleFiles('etcd', '1.0.0'),
    'operators/etcd/ci.yaml': CI,
    'operators/etcd/catalog-templates/basic.yaml': basicTemplate(
      'etcd',
      '1.0.0',
      `quay.io/org/etcd@sha256:${'0'.repeat(63)}1`,
    ),
    [OTHER]: catalog('etcd'),
    [NAMED]: catalog('quay'),
  });
  hub.forge.faults.push(() => (isDown ? { status: 502, data: { message: 'Bad gateway' } } : undefined));
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

/** A catalog of one version, whose image may be chosen. */
function catalog(name: string, image?: string): string {
  return documents(
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: `${name}.v1.0.0` }] },
    bundle(name, '1.0.0', image === undefined ? {} : { image }),
  );
}

const push = (commit: string, before?: string): PushMessage => ({
  v: 1,
  kind: 'push',
  ...FROM,
  commit,
  ...(before === undefined ? {} : { before }),
});

/** How a catalog names a bundle that is not released yet. */
async function imageOf(files: Readonly<Record<string, string>>, name: BundleName): Promise<string> {
  const commit = hub.repository.commit(files, { parents: [hub.base()], branch: 'foreseen' });
  const repository = await openRepository(hub.repository.directory, { searchPath: process.env['PATH'] });
  const source = await treeRepository(repository.objects, commit).folder(folderOf(name));
  if (!source) throw new Error('no bundle');
  const { reference } = await builtBundle(`${host}/org/{package}-bundle:v{version}`, name, source);
  await repository.close();
  return reference;
}

interface Handled {
  /** Kinds of the messages, in order. */
  readonly kinds: readonly string[];
  /** Messages that failed, with why. */
  readonly failed: readonly { readonly message: Message; readonly why: string }[];
  /** What was told to GitHub, by context. */
  readonly told: ReadonlyMap<string, string>;
  readonly log: readonly string[];
}

/** Handles messages and all that they lead to, each once. @param hasJob whether a job publishes the branch */
async function handled(messages: readonly Message[], hasJob = false): Promise<Handled> {
  const queued = [...messages];
  const reports: Message[] = [];
  const log: string[] = [];
  const ports = portsFor({ queued, reports, log, hasJob });
  const kinds: string[] = [];
  const failed: { message: Message; why: string }[] = [];
  for (let message = queued.shift(); message; message = queued.shift()) {
    kinds.push(readWork(message.body).kind);
    try {
      await handleMessage(message.body, ports);
    } catch (error) {
      failed.push({ message, why: error instanceof Error ? error.message : String(error) });
    }
  }
  const told = new Map<string, string>();
  const forge = {
    report: async ({ context, state, description }: CommitStatus) =>
      void told.set(context, `${state}: ${description}`),
  };
  for (const { body } of reports) await handleReport(body, { records, forge, log: () => undefined });
  return { kinds, failed, told, log };
}

interface Sinks {
  readonly queued: Message[];
  readonly reports: Message[];
  readonly log: string[];
  readonly hasJob: boolean;
}

function portsFor({ queued, reports, log, hasJob }: Sinks): DeliveryPorts {
  const now = (): Date => new Date('2026-01-01T00:00:00Z');
  const say = (line: string): void => void log.push(line);
  const releaser = releaserFor({
    github: async () => unpaced(hub.forge),
    source: FROM,
    registry,
    registries: { plainHttp: [host] },
    now,
    log: say,
  });
  return {
    open: async () => {
      const repository = await openRepository(hub.repository.directory, { searchPath: process.env['PATH'] });
      const [tip = ''] = await repository.resolve(['main']);
      return { repository, tip, close: repository.close };
    },
    registry,
    fence: recordFence(records),
    records,
    queue: { send: async (message) => void queued.push(message) },
    reports: { send: async (message) => void reports.push(message) },
    releaserOf: () => (hasJob ? undefined : releaser),
    now,
    log: say,
  };
}

const merge = (commit: string, before?: string): Promise<Handled> =>
  handled([messageOf(push(commit, before))]);
const stateOf = async (commit: string, name: string): Promise<string | undefined> =>
  (await outcomeAt(records, { repository: FROM.repository, commit, catalog: name }))?.state;

test('bundles of a push are images and pull requests, and a catalog that names one is published after it', async () => {
  await merge(hub.base());
  const bundles = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
  const image = await imageOf(bundles, { package: 'etcd', version: '1.1.0' });
  const commit = hub.moveBase({ ...bundles, [NAMED]: catalog('quay', image) });
  const { kinds, failed, told } = await merge(commit);
  expect([kinds, failed]).toEqual([['push', 'catalog'], []]);
  expect(
    await registry.resolve({ kind: 'tag', registry: host, repository: 'org/etcd-bundle', tag: 'v1.1.0' }),
  ).toMatchObject({ digest: image.split('@')[1] });
  expect(hub.forge.pulls.get(7)).toMatchObject({
    title: 'Release etcd 1.1.0',
    body: expect.stringContaining(
      [
        '- `operators/etcd/catalog-templates/basic.yaml`',
        '- `catalogs/v4.12/etcd/catalog.yaml`',
        '- `catalogs/v4.20/etcd/catalog.yaml`',
      ].join('\n'),
    ),
  });
  expect(await stateOf(commit, 'v4.21')).toBe('published');
  expect(told.get('portolan/release')).toBe('success: released etcd 1.1.0');
  expect(hub.forge.deployments.map(({ environment, ref }) => [environment, ref])).toEqual([
    ['bundles', commit],
  ]);
  // Twice is once: GitHub is not asked.
  const before = hub.forge.deployments.length;
  isDown = true;
  expect((await merge(commit)).failed).toEqual([]);
  expect(hub.forge.deployments.length).toBe(before);
});

test('where nothing was released yet, what a webhook tells as new is; without that, what comes from then on', async () => {
  const before = hub.base();
  const first = hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  expect((await merge(first, before)).told.get('portolan/release')).toBe('success: released etcd 1.1.0');
  records = directoryRecords(folder());
  // A job noted it, before functions did.
  const second = hub.moveBase(bundleFiles('etcd', '1.2.0', releaseConfig('etcd.v1.0.0')));
  expect((await merge(second)).log).toContain('released etcd 1.2.0');
  records = directoryRecords(folder());
  hub.forge.deployments.length = 0;
  const third = hub.moveBase(bundleFiles('etcd', '1.3.0', releaseConfig('etcd.v1.0.0')));
  expect((await merge(third)).told.get('portolan/release')).toBeUndefined();
});

test('while GitHub is down catalogs are published, but for one that names a bundle without an image', async () => {
  await merge(hub.base());
  const bundles = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
  const image = await imageOf(bundles, { package: 'etcd', version: '1.1.0' });
  isDown = true;
  // The bundle's image is pushed before GitHub is asked: take the registry's answer away as well.
  const { putManifest } = registry;
  registry = {
    ...registry,
    putManifest: (to, ...rest) =>
      to.repository.endsWith('-bundle')
        ? Promise.reject(new PipelineError('unreachable', 'no registry', { retryable: true }))
        : putManifest(to, ...rest),
  };
  const commit = hub.moveBase({
    ...bundles,
    [NAMED]: catalog('quay', image),
    [OTHER]: `${catalog('etcd')}\n`,
  });
  const { kinds, failed } = await merge(commit);
  expect(kinds).toEqual(['push', 'bundles', 'catalog', 'catalog']);
  expect(failed.map(({ message, why }) => [readWork(message.body).kind, why])).toEqual([
    ['bundles', expect.any(String)],
    ['catalog', `${image} is not released yet`],
  ]);
  expect([await stateOf(commit, 'v4.21'), await stateOf(commit, 'v4.20')]).toEqual(['failed', 'published']);
  isDown = false;
  registry = { ...registry, putManifest };
  const again = await handled(failed.map(({ message }) => message));
  expect(again.failed).toEqual([]);
  expect(await stateOf(commit, 'v4.21')).toBe('published');
});

test('a catalog that names a refused bundle is refused until the bundle is correct', async () => {
  await merge(hub.base());
  const bundles = bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0'));
  const tagged = `${host}/org/etcd-bundle:v1.1.0`;
  const commit = hub.moveBase({ ...withoutInstallModes(bundles), [NAMED]: catalog('quay', tagged) });
  const { failed, told } = await merge(commit);
  expect(failed).toEqual([]);
  expect(told.get('portolan/release')).toMatch(/^failure: 1 bundle not released: .*install modes/i);
  expect(told.get('portolan/publish v4.21')).toMatch(
    /^failure: merged, not published: .*etcd-bundle:v1\.1\.0, a refused bundle/,
  );
  const correct = hub.moveBase(bundles);
  expect((await merge(correct)).failed).toEqual([]);
  expect(await stateOf(correct, 'v4.21')).toBe('published');
});

test('a push that nobody told of is found by the reconciler, bundles first', async () => {
  await merge(hub.base());
  hub.moveBase(bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')));
  const ports = portsFor({ queued: [], reports: [], log: [], hasJob: false });
  const { messages } = await reconcileBranch(FROM, ports);
  expect(messages.map(({ kind }) => kind)).toEqual(['bundles']);
  await handled(messages.map(messageOf));
  expect(hub.forge.pulls.get(7)).toMatchObject({ title: 'Release etcd 1.1.0' });
  expect((await reconcileBranch(FROM, ports)).messages).toEqual([]);
});

test('where a job publishes, functions release nothing and hold nothing back', async () => {
  const commit = hub.moveBase({
    ...bundleFiles('etcd', '1.1.0', releaseConfig('etcd.v1.0.0')),
    [NAMED]: catalog('quay', `${host}/org/etcd-bundle:v1.1.0`),
  });
  const { failed } = await handled([messageOf(push(commit))], true);
  expect(failed).toEqual([]);
  expect(await stateOf(commit, 'v4.21')).toBe('published');
  expect(hub.forge.pulls.size).toBe(0);
});
