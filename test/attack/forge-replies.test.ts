/**
 * Replies without what may be left out of them: no pull request passes that would not pass otherwise. Everything else
 * that is wrong in a reply is an error (`test/pipeline/forge/reply.slow.test.ts`).
 */
import { afterEach, expect, test } from 'vitest';
import { stateOf } from '../../pipeline/check/report.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { GateForge } from '../../pipeline/forge/forge.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gatePullRequest } from '../../pipeline/forge/gate.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { BASE, catalogOf, POLICY } from '../fakes/gate.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import type { Bend } from '../fakes/host.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { fieldsOf, MEANINGFUL, SPOILS, spoilt, spotOf } from '../fakes/spoil.ts';

const NAME = { owner: 'example', repo: 'catalogs' };

const FORGES = {
  Forgejo: async (hub: Hub, bend: Bend): Promise<GateForge> => {
    const fake = await fakeForgejo(hub, bend);
    fake.teams.set('acme/blocked', [{ id: 66, login: 'mallory' }]);
    const client = forgejoClient(fake.api, async () => FORGEJO_TOKEN);
    return forgejoForge(client, NAME);
  },
  GitLab: async (hub: Hub, bend: Bend): Promise<GateForge> => {
    const fake = await fakeGitLab(hub, bend);
    fake.groups.set('acme/blocked', [{ id: 66, username: 'mallory', access_level: 30, state: 'active' }]);
    const client = gitLabClient(fake.api, async () => GITLAB_TOKEN);
    return gitLabForge(client, NAME);
  },
};

const CATALOG = 'catalogs/v4.20/etcd/catalog.yaml';
const CHANGED = { [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
const APPROVED = { by: 'bob', state: 'APPROVED' };

/** Each has one reason why it does not pass, but for the first. @returns number of the pull request */
const SCENES: Readonly<Record<string, (hub: Hub) => number>> = {
  'an owner approved it': (hub) => {
    const { number, head, reviews } = hub.open(CHANGED, { author: 'mallory' });
    reviews.push({ ...APPROVED, commit: head });
    return number;
  },
  'the owner asked for changes': (hub) => {
    const { number, head, reviews } = hub.open(CHANGED, { author: 'mallory' });
    reviews.push({ by: 'alice', state: 'APPROVED', commit: head });
    reviews.push({ by: 'bob', state: 'CHANGES_REQUESTED', commit: head });
    return number;
  },
  'the owner approved an older head': (hub) => {
    const pull = hub.open(CHANGED, { author: 'mallory' });
    pull.reviews.push({ ...APPROVED, commit: pull.head });
    hub.push(pull, { [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.3.0']) });
    return pull.number;
  },
  'somebody else pushed': (hub) => {
    const { number, head, reviews } = hub.open(CHANGED, { author: 'bob', pusher: 'mallory' });
    reviews.push({ ...APPROVED, commit: head });
    return number;
  },
  'somebody else wrote': (hub) => {
    const pull = hub.open(CHANGED, { author: 'bob' });
    const files = { [CATALOG]: catalogOf('etcd', ['1.0.0', '1.1.0', '1.3.0']) };
    const branch = `pull-${pull.number}`;
    pull.head = hub.repository.commit(files, { parents: [pull.head], branch, author: 'mallory' });
    return pull.number;
  },
  'the author is blocked': (hub) => {
    hub.moveBase({ '.github/portolan.yaml': POLICY.replace('blocked: []', 'blocked: [acme/blocked]') });
    const { number, head, reviews } = hub.open(CHANGED, { author: 'mallory' });
    reviews.push({ ...APPROVED, commit: head });
    return number;
  },
};

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

test.each(
  (['Forgejo', 'GitLab'] as const).flatMap((name) =>
    Object.keys(SCENES).map((scene) => [name, scene] as const),
  ),
)('%s: %s', { timeout: 120_000 }, async (name, scene) => {
  const hub = await openHub({ ...BASE });
  close = hub.close;
  let bend: Bend = (_, value) => value;
  const forge = await FORGES[name](hub, (what, value) => bend(what, value));
  const number = SCENES[scene]?.(hub) ?? 0;
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  const ports = { forge, remote, git: { searchPath: process.env['PATH'] }, today: '2026-01-01' };
  const stateNow = async (): Promise<string> => {
    const outcome = await gatePullRequest(ports, { number });
    return outcome.kind === 'checked' ? stateOf(outcome.report) : outcome.kind;
  };
  const replies = new Map<string, Set<string>>();
  bend = (request, value) => {
    replies.set(request, new Set([...(replies.get(request) ?? []), ...fieldsOf(value)]));
    return value;
  };
  const passes = (await stateNow()) === 'success';
  expect(passes).toBe(scene === 'an owner approved it');
  const all = [...replies].flatMap(([request, fields]) =>
    [...fields].flatMap((field) => SPOILS.map((how) => ({ request, field, how }))),
  );
  const meaningful = all.filter(({ request, field, how }) =>
    MEANINGFUL[name].includes(spotOf(request, field, how)),
  );
  expect(meaningful.length).toBeGreaterThan(4);
  for (const { request, field, how } of meaningful) {
    bend = (asked, value) => (asked === request ? spoilt(value, field, how) : value);
    const state = await stateNow().catch((error: unknown) => error);
    expect(typeof state === 'string' || state instanceof PipelineError, `${state}`).toBe(true);
    if (!passes) expect(state, spotOf(request, field, how)).not.toBe('success');
  }
});
