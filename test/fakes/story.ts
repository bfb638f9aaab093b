/** A repository on the fake GitHub, and the functions that check its pull requests: events come in as signed webhooks. */
import { createHmac } from 'node:crypto';
import { pullChecker } from '../../functions/app.ts';
import type { GateRequest } from '../../functions/gate.ts';
import { receiveDelivery } from '../../functions/receive.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { gateGroup } from '../../pipeline/github/group.ts';
import { gitHubWebhooks } from '../../pipeline/github/webhook.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from './folder.ts';
import { bundle, documents, POLICY } from './gate.ts';
import { gateRequest } from './gate-request.ts';
import { unpaced } from './github/client.ts';
import { type FakePull, TOKEN } from './github/forge.ts';
import type { Asked } from './github/server.ts';
import { type Hub, openHub } from './hub.ts';
import type { Files } from './repository.ts';

export const NAME = { owner: 'example', repo: 'catalogs' };
const REPOSITORY = 'example/catalogs';
const SECRET = 'only-a-test';
/** How often a queue delivers a message whose handler fails. */
const TRIES = 3;

export interface Story {
  readonly hub: Hub;
  /** What the functions ask with; a test may put another forge there. */
  request: GateRequest;
  /** What handlers threw for good. */
  readonly failed: unknown[];
  /** Sends an event once more with the same body when `again` is its number. @returns the delivery's number */
  deliver(event: string, payload: object, again?: number): Promise<number>;
  /** An event about a pull request, as it is now. */
  pull(action: string, pull: FakePull, more?: object): Promise<number>;
  /** The event of a push to a branch. */
  pushed(before: string, branch?: string): Promise<number>;
  /** States of a commit's status, the newest last. */
  states(commit: string): string[];
  /** Comments of the gate's account. */
  comments(pull: FakePull): string[];
  /** Calls that merge, with the head that each one names. */
  mergeCalls(): (string | undefined)[];
  /** Acts before the first request that matches is answered. */
  before(operation: RegExp, act: (asked: Asked) => void): void;
}

export const CHANNEL = 'catalogs/v4.20/etcd/channel.yaml';

function channelOf(first: string, last: string): string {
  return `schema: olm.channel
package: etcd
name: stable
entries:
${first}- name: etcd.v1.0.0
  skipRange: '<1.0.0'
- name: etcd.v1.1.0
  replaces: etcd.v1.0.0
${last}`;
}

function bundleFile(version: string): Files {
  return { [`catalogs/v4.20/etcd/${version}.json`]: documents(bundle('etcd', version)) };
}

/** etcd in several files, so that git merges two additions. */
export const SPLIT: Files = {
  'catalogs/v4.20/etcd/catalog.yaml': documents({
    schema: 'olm.package',
    name: 'etcd',
    defaultChannel: 'stable',
  }),
  [CHANNEL]: channelOf('', ''),
  ...bundleFile('1.0.0'),
  ...bundleFile('1.1.0'),
};

/** Adds 1.2.0 after 1.1.0. */
export const LAST: Files = {
  [CHANNEL]: channelOf('', '- name: etcd.v1.2.0\n  replaces: etcd.v1.1.0\n'),
  ...bundleFile('1.2.0'),
};

/** Adds 1.1.1 after 1.1.0: with {@link LAST} the channel has two heads. */
export const FIRST: Files = {
  [CHANNEL]: channelOf('- name: etcd.v1.1.1\n  replaces: etcd.v1.1.0\n', ''),
  ...bundleFile('1.1.1'),
};

/** Takes {@link FIRST} back. */
export const WITHOUT_FIRST: Files = {
  [CHANNEL]: channelOf('', ''),
  'catalogs/v4.20/etcd/1.1.1.json': null,
};

/** Two heads at once. */
export const HARMFUL: Files = {
  [CHANNEL]: channelOf(
    '- name: etcd.v1.1.1\n  replaces: etcd.v1.1.0\n',
    '- name: etcd.v1.2.0\n  replaces: etcd.v1.1.0\n',
  ),
  ...bundleFile('1.1.1'),
  ...bundleFile('1.2.0'),
};

/** What a push on top of {@link HARMFUL} has to say to be like {@link LAST}. */
export const REPAIRED: Files = { ...LAST, 'catalogs/v4.20/etcd/1.1.1.json': null };

/** @param policy lines beside those of `gate.ts` */
export async function openStory(policy = ''): Promise<Story> {
  const hub = await openHub();
  hub.moveBase({ ...SPLIT, [POLICY_PATH]: `${POLICY}${policy}` });
  return storyOf(hub, gitHubRequest(hub));
}

function gitHubRequest(hub: Hub): GateRequest {
  const github = unpaced(hub.forge);
  return {
    ...gateRequest(hub, gitHubForge({ github, repository: NAME })),
    gateGroup: (ports, group) => gateGroup({ ...ports, github, repository: NAME }, group),
  };
}

function storyOf(hub: Hub, request: GateRequest): Story {
  const failed: unknown[] = [];
  const bodies: Uint8Array[] = [];
  const records = directoryRecords(folder());
  const source = { repository: REPOSITORY, id: 1, branch: 'main', url: `${hub.forge.url}/${REPOSITORY}.git` };
  const forge = { report: async () => undefined, token: async () => TOKEN };
  const check = pullChecker([source], { forge, request: async () => story.request });
  const handle = async (body: string): Promise<void> => {
    const message = JSON.parse(body);
    if (message.kind !== 'gate') return;
    for (let tries = 1; ; tries++) {
      try {
        return await check(message);
      } catch (error) {
        if (tries < TRIES) continue;
        failed.push(error);
        return;
      }
    }
  };
  const deliver: Story['deliver'] = async (event, payload, again) => {
    const number = again ?? bodies.length;
    const repository = { id: 1, full_name: REPOSITORY, pushed_at: Date.UTC(2026, 0, 10) / 1000 };
    const text = JSON.stringify({ repository, nonce: number, ...payload });
    bodies[number] ??= new TextEncoder().encode(text);
    const body = bodies[number];
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const messages: string[] = [];
    await receiveDelivery(
      { headers: { 'x-github-event': event, 'x-hub-signature-256': signature }, body },
      {
        webhooks: gitHubWebhooks,
        secret: async () => SECRET,
        sources: [source],
        checksPulls: true,
        queue: { send: async (message) => void messages.push(message.body) },
        records,
        now: () => new Date('2026-01-10T00:00:00Z'),
        log: (line) => void hub.log.push(line),
      },
    );
    for (const message of messages) await handle(message);
    return number;
  };
  const story: Story = {
    ...{ hub, request, failed, deliver },
    pull: (action, pull, more = {}) =>
      deliver('pull_request', {
        ...{ action, number: pull.number, ...more },
        pull_request: {
          ...{
            number: pull.number,
            state: pull.state,
            draft: pull.draft,
            updated_at: '2026-01-10T00:00:00Z',
          },
          ...{
            head: { ref: pull.branch, sha: pull.head },
            base: { ref: pull.into ?? 'main', sha: pull.base },
          },
        },
      }),
    pushed: (before, branch = 'main') =>
      deliver('push', { ref: `refs/heads/${branch}`, before, after: hub.tip(branch), deleted: false }),
    states: (commit) =>
      hub.forge.statuses
        .filter(({ sha, context }) => sha === commit && context === 'portolan')
        .map(({ state }) => String(state)),
    comments: ({ number }) =>
      (hub.forge.comments.get(number) ?? [])
        .filter(({ by }) => by === hub.forge.writer)
        .map(({ body }) => body),
    mergeCalls: () =>
      hub.forge.asked
        .filter(({ operation }) => operation.startsWith('PUT ') && operation.endsWith('/merge'))
        .map(({ body }) => body.sha),
    before: (operation, act) => {
      let isDone = false;
      hub.forge.faults.push((asked) => {
        if (isDone || !operation.test(asked.operation)) return undefined;
        isDone = true;
        act(asked);
        return undefined;
      });
    },
  };
  return story;
}
