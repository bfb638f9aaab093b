/** Stories on GitLab and Forgejo: the gate of the functions asks fakes of both. */
import { handleGate } from '../../functions/gate.ts';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { type FakeForgejo, FORGEJO_TOKEN, fakeForgejo } from './forgejo.ts';
import { gateRequest } from './gate-request.ts';
import type { FakePull } from './github/forge.ts';
import { type FakeGitLab, fakeGitLab, GITLAB_TOKEN } from './gitlab.ts';
import type { Bend } from './host.ts';
import type { Hub } from './hub.ts';
import { opens } from './stories.ts';
import { NAME, SPLIT } from './story.ts';

export interface OnGitLab {
  readonly hub: Hub;
  readonly fake: FakeGitLab;
  check(pull: FakePull): Promise<unknown>;
  states(pull: FakePull): string[];
  notes(pull: FakePull): string[];
}

export async function onGitLab(): Promise<OnGitLab> {
  const hub = await opens();
  hub.moveBase(SPLIT);
  const fake = await fakeGitLab(hub);
  const request = gateRequest(
    hub,
    gitLabForge(
      gitLabClient(fake.api, async () => GITLAB_TOKEN),
      NAME,
    ),
  );
  return {
    ...{ hub, fake },
    check: ({ number }) => handleGate(number, request),
    states: ({ number }) => fake.statusesOf(number).map(({ state }) => state),
    notes: ({ number }) => fake.notes.filter((note) => note.number === number).map(({ body }) => body),
  };
}

export interface OnForgejo {
  readonly hub: Hub;
  readonly fake: FakeForgejo;
  check(pull: FakePull): Promise<unknown>;
  /** As a queue delivers: again while the handler fails. */
  settle(pull: FakePull): Promise<void>;
  states(commit: string): string[];
  comments(pull: FakePull): string[];
}

export async function onForgejo(bend?: Bend): Promise<OnForgejo> {
  const hub = await opens();
  hub.moveBase(SPLIT);
  const fake = await fakeForgejo(hub, bend);
  const request = gateRequest(
    hub,
    forgejoForge(
      forgejoClient(fake.api, async () => FORGEJO_TOKEN),
      NAME,
    ),
  );
  const check = ({ number }: FakePull): Promise<unknown> => handleGate(number, request);
  return {
    ...{ hub, fake, check },
    settle: async (pull) => {
      for (let tries = 1; ; tries++) {
        try {
          await check(pull);
          return;
        } catch (error) {
          if (tries >= 5) throw error;
        }
      }
    },
    states: (commit) => fake.statuses.filter(({ sha }) => sha === commit).map(({ state }) => state),
    comments: ({ number }) => fake.comments.filter((one) => one.number === number).map(({ body }) => body),
  };
}
