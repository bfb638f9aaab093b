/** Branches as the functions read them: without a git program, and no more of them than is needed. */
import { request as ask, createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { branchOpener } from '../../functions/branch.ts';
import { hostSettings } from '../../functions/settings.ts';
import { entryAt, listFiles } from '../../pipeline/git/tree.ts';
import { gitServer } from '../fakes/git-server.ts';
import { listen } from '../fakes/host.ts';
import { makeRepository, type TestRepository } from '../fakes/repository.ts';

let source: TestRepository;
let tip: string;
const log: string[] = [];
beforeEach(() => {
  log.length = 0;
  source = makeRepository();
  source.git('config', 'uploadpack.allowFilter', 'true');
  const large = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`other/${i}`, `${i}`.repeat(4000)]));
  tip = source.commit({ ...large, 'catalogs/v4.20/a.yaml': 'a' }, { branch: 'main' });
});
afterEach(() => source.remove());

interface Seen {
  requests: number;
  bytes: number;
  readonly tokens: Set<string | undefined>;
}

/** The repository behind a front that counts. */
async function front(): Promise<{ url: string; seen: Seen }> {
  const target = new URL(await gitServer(join(source.directory, '.git')));
  const seen: Seen = { requests: 0, bytes: 0, tokens: new Set() };
  const server = createServer((incoming, outgoing) => {
    seen.requests++;
    seen.tokens.add(incoming.headers.authorization);
    const { method, headers, url } = incoming;
    const passed = ask({ host: target.hostname, port: target.port, path: url, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        seen.bytes += chunk.length;
      });
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  return { url: `http://${await listen(server)}${target.pathname}`, seen };
}

function opener(
  url: string,
  { plain = true, path = '/nowhere', token = undefined as string | undefined } = {},
) {
  const environment = {
    PATH: path,
    PORTOLAN_PLAIN_HTTP: plain ? new URL(url).host : '',
    PORTOLAN_SOURCES: JSON.stringify([{ repository: 'sea/catalogs', id: 1, branch: 'main', url }]),
  };
  const settings = hostSettings(environment, 'set it');
  const options = {
    token: token === undefined ? undefined : async () => token,
    log: (line: string) => log.push(line),
  };
  return branchOpener(settings, options);
}

const MAIN = { repository: 'sea/catalogs', branch: 'main' };

test('a branch is read without git, as far as it is asked for, and once in a process', async () => {
  const { url, seen } = await front();
  const open = opener(url, { token: 'ghs_token' });
  const readCatalog = async (): Promise<string> => {
    const branch = await open(MAIN);
    const { objects } = branch.repository;
    const entry = await entryAt(objects, branch.tip, 'catalogs/v4.20');
    const files = await listFiles(objects, entry?.id ?? '');
    const texts = await Promise.all(files.map(async ({ id }) => (await objects.read(id)).bytes.toString()));
    await branch.close();
    return `${branch.tip} ${texts}`;
  };
  expect(await readCatalog()).toBe(`${tip} a`);
  // What the server can do, the branch, its commit, three trees, the file.
  expect(seen.requests).toBe(7);
  expect(seen.bytes).toBeLessThan(6000);
  expect([...seen.tokens]).toEqual([`Basic ${Buffer.from('x-access-token:ghs_token').toString('base64')}`]);
  expect(await readCatalog()).toBe(`${tip} a`);
  expect(seen.requests).toBe(8);
  const moved = source.commit({ 'catalogs/v4.20/a.yaml': 'b' }, { parents: [tip], branch: 'main' });
  expect(await readCatalog()).toBe(`${moved} b`);
  // The branch, its commit, three trees, the file: nothing beside them.
  expect(seen.requests).toBe(14);
  expect(log).toEqual([]);
});

test('where the server sends whole repositories only, git is used', async () => {
  source.git('config', 'uploadpack.allowFilter', 'false');
  const { url } = await front();
  const branch = await opener(url, { path: process.env['PATH'] ?? '' })(MAIN);
  expect(branch.tip).toBe(tip);
  expect(await listFiles(branch.repository.objects, tip)).toHaveLength(51);
  await branch.close();
  expect(log).toEqual(['the git server of sea/catalogs lacks filter: git clones the repository instead']);
  await expect(opener(url)(MAIN)).rejects.toMatchObject({
    message: expect.stringContaining('git is not on the PATH'),
  });
});

test('two messages that clone a repository at once get it both', async () => {
  source.git('config', 'uploadpack.allowFilter', 'false');
  const { url } = await front();
  const open = opener(url, { path: process.env['PATH'] ?? '' });
  const both = await Promise.all([open(MAIN), open(MAIN)]);
  expect(both.map((branch) => branch.tip)).toEqual([tip, tip]);
  for (const { close } of both) await close();
});

test('what is no source is not opened', async () => {
  const { url, seen } = await front();
  const open = opener(url);
  await expect(open({ ...MAIN, branch: 'other' })).rejects.toMatchObject({ code: 'not-allowed' });
  await expect(open({ ...MAIN, repository: 'sea/other' })).rejects.toMatchObject({ code: 'not-allowed' });
  expect(seen.requests).toBe(0);
});

test('a branch that is gone', async () => {
  const { url } = await front();
  source.git('branch', '-M', 'main', 'other');
  await expect(opener(url)(MAIN)).rejects.toMatchObject({ code: 'not-found' });
});

test('a token is not sent in the clear', async () => {
  const { url, seen } = await front();
  await expect(opener(url, { plain: false, token: 'ghs_token' })(MAIN)).rejects.toMatchObject({
    code: 'not-allowed',
  });
  expect(seen.requests).toBe(0);
});
