/** A repository's host that sends whoever asks to another one: no token goes there. */
import { createServer, type IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fetchBranch } from '../../pipeline/git/fetch.ts';
import { authorizationHeader, type Reach } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import { gitFence } from '../../pipeline/publish/fence-git.ts';
import { commitOf, digestOf, NAME } from '../fakes/fence-contract.ts';
import { folder } from '../fakes/folder.ts';
import { backend } from '../fakes/git-server.ts';
import { listen, reply, startHost } from '../fakes/host.ts';
import { makeRepository } from '../fakes/repository.ts';

const settings = { searchPath: process.env['PATH'] };
const reach: Reach = { header: authorizationHeader('SECRET') };

/** A repository on one host, and its URL on another one that answers all with a redirect. */
async function moved(status: number) {
  const repository = makeRepository('--bare');
  onTestFinished(repository.remove);
  const tip = repository.commit({ file: 'x' });
  const asked: IncomingMessage[] = [];
  const there = await listen(
    createServer((request, response) => {
      asked.push(request);
      backend(dirname(repository.directory), request, response);
    }),
  );
  // Another name: what a client keeps for one host is not for the other.
  const location = `http://${there.replace('127.0.0.1', 'localhost')}`;
  const first = await startHost(({ url }, response) =>
    reply(response, status, '', { location: location + url }),
  );
  return { url: `${first.url}/${basename(repository.directory)}`, asked, tip };
}

test.each([301, 302, 307, 308])(
  'a redirect (%i) is not followed with a token, and is said',
  async (status) => {
    const { url, asked, tip } = await moved(status);
    const fence = gitFence({ repository: url, settings, reach });
    onTestFinished(fence.close);
    const remote = openRemote({ url, ...reach }, settings);
    onTestFinished(remote.close);
    const claim = { epoch: 0, commit: commitOf(1), digest: digestOf(1) };
    const attempts = [
      fetchBranch({ url, branch: 'main', directory: join(folder(), 'clone'), settings, reach }),
      fence.read(NAME),
      fence.replace(NAME, claim, undefined),
      remote.bring([tip]),
    ];
    for (const end of await Promise.allSettled(attempts)) {
      expect(end).toMatchObject({
        status: 'rejected',
        reason: {
          message: expect.stringMatching(/redirects \(30\d\).*the new URL of a renamed or moved repository/),
        },
      });
    }
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([]);
  },
);

test('without a token the repository is found where it is now', async () => {
  const { url, asked, tip } = await moved(301);
  const directory = join(folder(), 'clone');
  expect(await fetchBranch({ url, branch: 'main', directory, settings, reach: {} })).toBe(tip);
  expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set([undefined]));
});
