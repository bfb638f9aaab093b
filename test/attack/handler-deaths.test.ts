/** The other handlers die at every call that they make; what asked for them asks again: the same end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { formatLock } from '../../catalog/references/lock.ts';
import { handleDrift } from '../../functions/drift.ts';
import { handleGate } from '../../functions/gate.ts';
import { answerJob } from '../../functions/publish-request.ts';
import { receiveDelivery } from '../../functions/receive.ts';
import type { GitHub } from '../../pipeline/github/client.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { gitHubWebhooks } from '../../pipeline/github/webhook.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import type { CommitStatus, Message, Retirement } from '../../pipeline/ports.ts';
import { handleMessage } from '../../pipeline/publish/delivery/handle-delivery.ts';
import { memoryQueue } from '../../pipeline/publish/delivery/local.ts';
import { messageOf, readReport } from '../../pipeline/publish/delivery/message.ts';
import { noteOutcome, reportBundles, reportCommit } from '../../pipeline/publish/delivery/outcome.ts';
import type { DeliveryPorts } from '../../pipeline/publish/delivery/ports.ts';
import { reconcileBranch } from '../../pipeline/publish/delivery/reconcile.ts';
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { Death, deliver, deliveryWorld } from '../fakes/delivery.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf, POLICY } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { testClient } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { sampleImage } from '../fakes/image.ts';
import { jobThatAsks } from '../fakes/job.ts';
import { registry } from '../fakes/registry.ts';
import { harbourRepository, type SampleRepository } from '../fakes/sample.ts';
import { signedPush } from '../fakes/webhook.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

/** Where a handler dies: at which of its calls, counted over all its tries, before or after it was done. */
interface Point {
  readonly at: number;
  readonly how: 'before' | 'after';
}

/** Counts the calls of a handler's ports, and lets the process die at one of them. */
interface Fate {
  /** How many calls there were. */
  calls(): number;
  /** A port of one process: after its death, nothing more is done. */
  process(): <T extends object>(port: T) => T;
}

function fateOf(point?: Point): Fate {
  let calls = 0;
  return {
    calls: () => calls,
    process: () => {
      let dead = false;
      return (port) =>
        new Proxy(port, {
          get: (of, key) => {
            const method = (of as Record<string | symbol, unknown>)[key];
            if (typeof method !== 'function') return method;
            const called = async (...parameters: unknown[]) => {
              if (dead) throw new Death();
              dead = ++calls === point?.at;
              if (dead && point?.how === 'before') throw new Death();
              const answer = await method.apply(of, parameters);
              if (dead) throw new Death();
              return answer;
            };
            if (key !== 'listTags') return called;
            return async function* (...parameters: unknown[]) {
              yield* (await called(...parameters)) as AsyncIterable<string>;
            };
          },
        });
    },
  };
}

/** Does something until it does not die. */
async function again(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof Death)) throw error;
    }
  }
}

/** Runs a scene to its end undisturbed, then with a death at each of its calls; all ends must be equal. */
async function atEveryCall(handler: string, scene: (fate: Fate) => Promise<unknown>): Promise<void> {
  const fate = fateOf();
  const undisturbed = await scene(fate);
  const calls = fate.calls();
  for (let at = 1; at <= calls; at++) {
    for (const how of ['before', 'after'] as const) {
      expect(await scene(fateOf({ at, how })), `${handler}: ${how} call ${at}`).toEqual(undisturbed);
    }
  }
  console.log(`${handler}: ${2 * calls} deaths, one in each run: ${calls} calls, before and after`);
  expect(calls).toBeGreaterThan(2);
}

test('receive: GitHub, or who looks after it, sends the event again', async () => {
  await atEveryCall('receive', async (fate) => {
    const records = directoryRecords(folder());
    const queued = new Map<string, string>();
    const source = { repository: 'sea/catalogs', id: 1, branch: 'main', url: 'https://example.com/x.git' };
    await again(() => {
      const mortal = fate.process();
      const { secret } = mortal({ secret: async () => 'secret' });
      return receiveDelivery(signedPush({ id: 1, secret: 'secret', commit: sample.base }), {
        webhooks: gitHubWebhooks,
        secret,
        sources: [source],
        checksPulls: false,
        queue: mortal({ send: async ({ id, body }) => void queued.set(id, body) }),
        records: mortal(records),
        now: () => new Date('2026-01-10T00:00:00Z'),
        log: () => undefined,
      });
    });
    return { queued: [...queued], kept: await records.list('') };
  });
});

test('ask: the job asks again', async () => {
  await atEveryCall('ask', async (fate) => {
    const records = directoryRecords(folder());
    const documents = 'documents/x/y/';
    await records.put(`${documents}receipt.json`, new TextEncoder().encode('{}'));
    const answers: unknown[] = [];
    const { asking, known } = jobThatAsks({ branch: 'main', commit: sample.base, run: 1 });
    await again(async () => {
      const mortal = fate.process();
      const done = { repository: 'sea/catalogs', catalog: 'v4.20', commit: sample.base, documents };
      const send = () => noteOutcome(records, { ...done, state: 'published', detail: 'sha256:1' });
      const { readToken } = mortal({ readToken: known.readToken });
      answers.push(
        await answerJob(asking, {
          ...known,
          readToken,
          queue: mortal({ send }),
          records: mortal(records),
          clock: { now: () => 1.8e12, sleep: async () => undefined },
          patience: 1000,
        }),
      );
    });
    return answers;
  });
});

const TAG = {
  kind: 'tag',
  registry: 'registry.example.com',
  repository: 'sea/catalog',
  tag: 'v4.20',
} as const;

test.each([
  [
    'a tag and a record that somebody moved',
    async ({ registry }: DeliveryPorts) => void (await registry.deleteManifest(TAG)),
  ],
  [
    'an image that is gone',
    async ({ registry }: DeliveryPorts) => {
      const { digest = '' } = (await registry.resolve(TAG)) ?? {};
      const { registry: host, repository } = TAG;
      await registry.deleteManifest({ kind: 'digest', registry: host, repository, digest });
    },
  ],
])(
  'reconcile and the publishes that it asks for: %s',
  async (what, spoil) => {
    await atEveryCall(`reconcile (${what})`, async (fate) => {
      const { state } = await deliver({
        directory: sample.directory,
        pushes: [{ v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit: sample.base }],
        last: async (living) => {
          const hand = living();
          await spoil(hand);
          await hand.records.put('published/v4.20/x', new Uint8Array());
          const mortal = (): DeliveryPorts => {
            const ports = hand;
            const port = fate.process();
            return {
              ...ports,
              registry: port(ports.registry),
              fence: port(ports.fence),
              records: port(ports.records),
              reports: port(ports.reports),
            };
          };
          // As the state machine does: the schedule, then each message with its own tries.
          await again(async () => {
            const { messages } = await reconcileBranch(
              { repository: 'sea/catalogs', branch: 'main' },
              mortal(),
            );
            for (const message of messages)
              await again(() => handleMessage(JSON.stringify(message), mortal()));
          });
        },
      });
      return state;
    });
  },
  900_000,
);

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';

/** The ports of a process that may die, but for those that only read. */
function mortalPorts(hand: DeliveryPorts, fate: Fate): DeliveryPorts {
  const port = fate.process();
  const { registry: at, fence, records, reports } = hand;
  return { ...hand, registry: port(at), fence: port(fence), records: port(records), reports: port(reports) };
}

// What keeps the image makes the first of these calls.
test.each<Retirement>(['retag', 'delete'])(
  'a retirement (%s): its message comes again',
  async (retired) => {
    const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
    const files = {
      [HARBOUR]: null,
      [POLICY_PATH]: `${policy.replace('publish:', `publish:\n  retired: ${retired}`)}\n`,
    };
    const gone = sample.commit(files, { parents: [sample.base], branch: 'gone' });
    const from = { v: 1, repository: 'sea/catalogs', branch: 'trunk' } as const;
    await atEveryCall(`retire (${retired})`, async (fate) => {
      sample.git('branch', '-f', 'trunk', sample.base);
      const told = new Set<string>();
      const { state } = await deliver({
        directory: sample.directory,
        pushes: [{ ...from, kind: 'push', commit: sample.base }],
        last: async (living) => {
          sample.git('branch', '-f', 'trunk', gone);
          const { reports, ...rest } = living();
          const heard = async (message: Message): Promise<void> => {
            const report = readReport(message.body);
            if (report.what === 'retirement') told.add(message.body);
            else await reports.send(message);
          };
          const hand = { ...rest, reports: { send: heard } };
          const queued: Message[] = [];
          await again(async () => {
            const { messages } = await reconcileBranch(from, mortalPorts(hand, fate));
            queued.splice(0, queued.length, ...messages.map(messageOf));
          });
          expect(queued).toHaveLength(1);
          for (const { body } of queued) await again(() => handleMessage(body, mortalPorts(hand, fate)));
        },
      });
      return { state, told: [...told] };
    });
  },
  900_000,
);

test('report: the message comes again', async () => {
  await atEveryCall('report', async (fate) => {
    const reports = memoryQueue();
    const queue = memoryQueue();
    const world = await deliveryWorld({ directory: sample.directory, queue, reports });
    const of = { v: 1, repository: 'sea/catalogs', commit: sample.base } as const;
    await queue.send(messageOf({ ...of, kind: 'push', branch: 'main' }));
    await queue.drain((body) => handleMessage(body, world.living('work')));
    const report = { ...of, kind: 'report' } as const;
    await reportCommit({ reports }, of, { state: 'superseded', detail: sample.addition });
    await reportBundles({ reports }, of, { state: 'success', text: 'released etcd 1.0.0' });
    const retired = { catalog: 'v4.20', image: 'i', digest: 'd', retired: 'keep' } as const;
    await reports.send(messageOf({ ...report, what: 'retirement', ...retired }));
    const statuses: CommitStatus[] = [];
    const others = new Set<string>();
    const note = (what: string) => async (told: object) => void others.add(`${what} ${JSON.stringify(told)}`);
    await reports.drain((body) =>
      again(() => {
        const port = fate.process();
        const forge = {
          report: async (status: CommitStatus) => void statuses.push(status),
          shows: async (status: CommitStatus) =>
            JSON.stringify(statuses.findLast(({ context }) => context === status.context)) ===
            JSON.stringify(status),
        };
        const bus = port({
          announce: note('event'),
          announceRetired: note('retired'),
          deployed: note('deployed'),
        });
        return handleReport(body, {
          ...bus,
          records: port(world.records),
          forge: port(forge),
          log: () => undefined,
        });
      }),
    );
    // Each once, whichever call was the last of a process.
    expect([statuses.length, others.size]).toEqual([3, 3]);
    return {
      statuses: statuses.map((status) => JSON.stringify(status)).sort(),
      others: [...others].sort(),
      kept: await world.records.list('reported/'),
    };
  });
}, 900_000);

test('gate: the message comes again', async () => {
  await atEveryCall('gate', async (fate) => {
    const hub = await openHub();
    try {
      const etcd = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
      const { number } = hub.open(etcd, { author: 'mallory' });
      await again(() => handleGate(number, gateRequest(hub, fate)));
      const { statuses, checks, comments } = hub.forge;
      const last = statuses.at(-1);
      return [
        last?.state,
        last?.description,
        checks.map(({ name, conclusion }) => [name, conclusion]),
        [...comments.values()].flat().length,
      ];
    } finally {
      await hub.close();
    }
  });
}, 900_000);

test('drift: the schedule comes again', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  const push = async (content: string): Promise<string> => {
    const image = sampleImage({ layers: [content], architectures: ['amd64'] });
    await pushImage(client, parseReference(`${host}/org/etcd:v1`), { image });
    return image.root.digest;
  };
  const old = await push('old');
  await push('fresh');
  const image = `${host}/org/etcd@${old}`;
  const files = {
    [POLICY_PATH]: `${POLICY}registries: {allow: ['${host}'], internal: ['127.0.0.0/8']}\n`,
    'catalogs/v4.20/etcd/catalog.yaml': `schema: olm.bundle\nname: etcd.v1\npackage: etcd\nimage: ${image}\n`,
    'catalogs/v4.20.lock.json': formatLock({ digests: new Map([[`${host}/org/etcd:v1`, old]]) }),
  };
  await atEveryCall('drift', async (fate) => {
    const hub = await openHub(files);
    try {
      const url = `${hub.forge.url}/example/catalogs.git`;
      const source = { repository: 'example/catalogs', id: 1, branch: 'main', url };
      const look = () =>
        handleDrift({
          ...gateRequest(hub, fate),
          source,
          registries: { plainHttp: [host, new URL(url).host] },
        });
      const kinds: unknown[] = [];
      // The second time nothing is left to do.
      for (const _ of ['an hour', 'the next one']) {
        await again(async () => {
          const { proposed } = await look();
          kinds.push(proposed['v4.20']?.kind);
        });
      }
      const open = [...hub.forge.pulls.values()].filter(({ state }) => state === 'open');
      return [kinds.at(-1), open.length];
    } finally {
      await hub.close();
    }
  });
}, 900_000);

function gateRequest(hub: Hub, fate: Fate): Parameters<typeof handleGate>[1] & { github: GitHub } {
  const github = unpaced(hub.forge);
  const mortal = fate.process();
  github.hook.wrap('request', (request, options) =>
    mortal({ request: async () => request(options) }).request(),
  );
  return {
    github,
    forge: gitHubForge({ github, repository: { owner: 'example', repo: 'catalogs' } }),
    source: { url: `${hub.forge.url}/example/catalogs.git` },
    token: TOKEN,
    git: { searchPath: process.env['PATH'] },
    registries: {},
    now: new Date('2026-01-01T00:00:00Z'),
    log: () => undefined,
  };
}
