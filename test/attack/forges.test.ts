/** Every forge keeps one contract: GitHub, Forgejo by answers as a real Gitea's, and GitLab by its documentation. */
import { afterEach, expect } from 'vitest';
import { forgejoClient, forgejoForge } from '../../pipeline/forge/forgejo/forge.ts';
import { gitLabClient, gitLabForge } from '../../pipeline/forge/gitlab/forge.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { forgeContract } from '../fakes/forge-contract.ts';
import { FORGEJO_TOKEN, fakeForgejo } from '../fakes/forgejo.ts';
import { PEOPLE } from '../fakes/gate.ts';
import { unpaced } from '../fakes/github/client.ts';
import { fakeGitLab, GITLAB_TOKEN } from '../fakes/gitlab.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { hubScene } from '../fakes/hub-scene.ts';

const NAME = { owner: 'example', repo: 'catalogs' };

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.close();
  expect(hub?.forge.defects).toEqual([]);
});

forgeContract('GitHub', async () => {
  const own = await openHub();
  hub = own;
  const { statuses, comments } = own.forge;
  return hubScene(own, gitHubForge({ github: unpaced(own.forge), repository: NAME }), {
    statuses: (commit) =>
      statuses.filter(({ sha }) => sha === commit).map(({ context, state }) => ({ context, state })),
    comments: (number) => (comments.get(number) ?? []).map(({ by, body }) => ({ by, body })),
    comment: (number, by, body) => {
      const all = comments.get(number) ?? [];
      comments.set(number, [...all, { id: 1000 + all.length, by, body }]);
    },
  });
});

forgeContract('Forgejo', async () => {
  const own = await openHub();
  hub = own;
  const fake = await fakeForgejo(own);
  return hubScene(
    own,
    forgejoForge(
      forgejoClient(fake.api, async () => FORGEJO_TOKEN),
      NAME,
    ),
    {
      statuses: (commit) =>
        fake.statuses.filter(({ sha }) => sha === commit).map(({ context, state }) => ({ context, state })),
      comments: (number) =>
        fake.comments
          .filter((one) => one.number === number)
          .map(({ user, body }) => ({ by: user.login, body })),
      comment: (number, by, body) =>
        void fake.comments.push({
          id: fake.comments.length + 1,
          number,
          user: { login: by, id: PEOPLE[by].id ?? 0 },
          body,
        }),
    },
  );
});

forgeContract('GitLab', async () => {
  const own = await openHub();
  hub = own;
  const fake = await fakeGitLab(own);
  const client = gitLabClient(fake.api, async () => GITLAB_TOKEN);
  return hubScene(own, gitLabForge(client, NAME), {
    statuses: (commit) =>
      fake.statuses.filter(({ sha }) => sha === commit).map(({ name, state }) => ({ context: name, state })),
    comments: (number) =>
      fake.notes
        .filter((one) => one.number === number)
        .map(({ author, body }) => ({ by: author.username, body })),
    comment: (number, by, body) => {
      const author = { username: by, id: PEOPLE[by].id ?? 0 };
      fake.notes.push({ id: fake.notes.length + 1, number, author, body });
    },
  });
});
