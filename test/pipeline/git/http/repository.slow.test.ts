/** A repository over git's own HTTP backend, read without git: the same as git reads, and no more of it than is asked for. */

import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { wholeCatalog } from '../../../../pipeline/change/commit-catalogs.ts';
import { hasCommit } from '../../../../pipeline/git/fetch-commits.ts';
import {
  type GitClient,
  type GitClientOptions,
  openGitClient,
} from '../../../../pipeline/git/http/client.ts';
import { objectId } from '../../../../pipeline/git/http/pack.ts';
import { openHttpRepository } from '../../../../pipeline/git/http/repository.ts';
import { isAncestor } from '../../../../pipeline/git/merge.ts';
import type { GitObject } from '../../../../pipeline/git/objects.ts';
import type { Repository } from '../../../../pipeline/git/repository.ts';
import { entryAt, listFiles } from '../../../../pipeline/git/tree.ts';
import { LruCache } from '../../../../pipeline/lru-cache.ts';
import { openTransport } from '../../../../pipeline/oci/registry/client.ts';
import type { Transport } from '../../../../pipeline/oci/registry/http/transport.ts';
import type { Policy } from '../../../../pipeline/policy/policy.ts';
import { policyAt } from '../../../../pipeline/policy/read-policy.ts';
import { gitServer } from '../../../fakes/git-server.ts';
import { listen } from '../../../fakes/host.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { runs } from '../../../fakes/runs.ts';

let source: TestRepository;
const transports: Transport[] = [];
beforeEach(() => {
  source = servedRepository();
});
afterEach(() => {
  for (const transport of transports.splice(0)) transport.close();
  source.remove();
});

/** As restrictive as a large host: parts of a repository, but no levels of folders. */
function servedRepository(...options: readonly string[]): TestRepository {
  const repository = makeRepository(...options);
  repository.git('config', 'uploadpack.allowFilter', 'true');
  repository.git('config', 'uploadpackfilter.tree.maxDepth', '0');
  repository.git('config', 'uploadpackfilter.combine.allow', 'false');
  return repository;
}

interface Opened {
  readonly client: GitClient;
  readonly repository: Repository;
  /** Requests and bytes that came so far. */
  traffic(): { requests: number; received: number };
}

function clientOf(url: string, options: Partial<GitClientOptions> = {}): Omit<Opened, 'repository'> {
  const { host } = new URL(url);
  const transport = openTransport({ internal: [host], plainHttp: [host], retry: { attempts: 1 } });
  transports.push(transport);
  const client = openGitClient({ url, authorization: async () => undefined, transport, ...options });
  const traffic = () => transport.traffic().get(host) ?? { requests: 0, sent: 0, received: 0 };
  return { client, traffic };
}

async function open(cache?: LruCache<GitObject>): Promise<Opened> {
  const opened = clientOf(await gitServer(join(source.directory, '.git')));
  return { ...opened, repository: openHttpRepository({ ...opened, ...(cache ? { cache } : {}) }) };
}

describe('what is read', () => {
  const paths = fc.constantFrom('a', 'b/c', 'b/d/e', 'f/g', 'f/h/i/j', 'with space/ä');
  const commits = fc.array(fc.dictionary(paths, fc.string({ maxLength: 200 }), { minKeys: 1 }), {
    minLength: 1,
    maxLength: 4,
  });

  test('every file of every commit is what git says it is', async () => {
    await fc.assert(
      fc.asyncProperty(commits, async (all) => {
        source.remove();
        source = servedRepository();
        const ids = source.chain(...all);
        const { repository } = await open();
        await repository.bring(ids);
        for (const id of ids) {
          const files = await listFiles(repository.objects, id);
          const lines = files.map((file) => `${file.mode} blob ${file.id}\t${file.path}`).sort();
          expect(lines).toEqual(
            source.git('-c', 'core.quotePath=false', 'ls-tree', '-r', id).split('\n').sort(),
          );
          for (const file of files) {
            const { bytes } = await repository.objects.read(file.id);
            expect(objectId('blob', bytes, 'sha1')).toBe(file.id);
          }
        }
        await repository.close();
      }),
      runs(20),
    );
  });

  test('a branch names its newest commit', async () => {
    const [, second] = source.chain({ a: '1' }, { a: '2' });
    source.git('branch', 'release-1', second ?? '');
    source.git('branch', 'release-10', `${second}~1`);
    const { client } = await open();
    expect(await client.tip('release-1')).toBe(second);
    await expect(client.tip('release')).rejects.toMatchObject({ code: 'not-found' });
  });

  test('a repository of SHA-256', async () => {
    source.remove();
    source = servedRepository('--object-format=sha256');
    const id = source.commit({ 'b/c': 'one' }, { branch: 'main' });
    const { client, repository } = await open();
    expect(await client.tip('main')).toBe(id);
    await repository.bring([id]);
    const [file] = await listFiles(repository.objects, id);
    expect((await repository.objects.read(file?.id ?? '')).bytes.toString()).toBe('one');
  });
});

describe('what comes', () => {
  const LARGE = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`other/${i}/file`, `${i}`.repeat(500) + Math.sin(i)]),
  );

  test('only the trees on the way and the files that are read, many in one request', async () => {
    const id = source.commit(
      { ...LARGE, 'catalogs/v1/a/catalog.yaml': 'a', 'catalogs/v1/b/catalog.yaml': 'b' },
      { branch: 'main' },
    );
    source.commit({ 'other/new': 'x' }, { parents: [id], branch: 'later' });
    const { repository, traffic } = await open();
    await repository.bring([id]);
    const catalog = await entryAt(repository.objects, id, 'catalogs/v1');
    const files = await listFiles(repository.objects, catalog?.id ?? '');
    await repository.objects.prefetch(files.map((file) => file.id));
    expect(
      (await Promise.all(files.map((file) => repository.objects.read(file.id))))
        .map(({ bytes }) => `${bytes}`)
        .sort(),
    ).toEqual(['a', 'b']);
    // What the server can do; the commit, its root, catalogs, v1, the two packages, the two files.
    expect(traffic().requests).toBe(7);
    expect(traffic().received).toBeLessThan(3000);
    await repository.objects.prefetch(files.map((file) => file.id));
    await repository.bring([id]);
    expect(traffic().requests).toBe(7);
  });

  test('a whole catalog takes a request for each level of folders, and one for all files', async () => {
    const packages = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `catalogs/v4.20/p${i}/catalog.yaml`,
        `schema: olm.package\nname: p${i}\n`,
      ]),
    );
    const id = source.commit({ ...LARGE, ...packages });
    const { repository, traffic } = await open();
    await repository.bring([id]);
    const { policy } = await policyAt(repository.objects, id);
    const { requests } = traffic();
    const catalog = await wholeCatalog(repository.objects, id, {
      layout: (policy as Policy).layout,
      name: 'v4.20',
    });
    const files = await catalog.files();
    await catalog.bring?.(files);
    for (const file of files) expect(Buffer.from(await file.read()).toString()).toContain('olm.package');
    expect(files).toHaveLength(40);
    // The folder of catalogs, the catalog, its packages, its files.
    expect(traffic().requests - requests).toBe(4);
  });

  test('what an earlier reader fetched does not come again', async () => {
    const id = source.commit({ 'b/c': 'one' });
    const cache = new LruCache<GitObject>(1 << 20);
    for (const requests of [5, 0]) {
      const { repository, traffic } = await open(cache);
      await repository.bring([id]);
      for (const file of await listFiles(repository.objects, id)) await repository.objects.read(file.id);
      await repository.close();
      expect(traffic().requests).toBe(requests);
    }
  });

  test('what the cache drops is still here for whoever fetched it', async () => {
    const id = source.commit({ a: 'x'.repeat(3000), b: 'y'.repeat(3000) });
    const { repository } = await open(new LruCache<GitObject>(4000));
    await repository.bring([id]);
    const files = await listFiles(repository.objects, id);
    await repository.objects.prefetch(files.map((file) => file.id));
    for (const file of files) expect((await repository.objects.read(file.id)).size).toBe(3000);
  });

  test('files that take more memory than there is come again when they are asked for again', async () => {
    const id = source.commit({ a: 'x'.repeat(3000), b: 'y'.repeat(3000), c: 'z' });
    const { client, traffic } = await open();
    const repository = openHttpRepository({ client, memory: 4000 });
    await repository.bring([id]);
    const [a = '', b = '', c = ''] = (await listFiles(repository.objects, id))
      .sort((one, other) => (one.path < other.path ? -1 : 1))
      .map((file) => file.id);
    // Whatever comes in one answer is there for whoever asked for it.
    await repository.objects.prefetch([a, b]);
    const { requests } = traffic();
    for (const file of [a, b]) expect((await repository.objects.read(file)).size).toBe(3000);
    expect(traffic().requests).toBe(requests);
    await repository.objects.read(c);
    expect((await repository.objects.read(b)).size).toBe(3000);
    expect(traffic().requests).toBe(requests + 1);
    expect((await repository.objects.read(a)).size).toBe(3000);
    expect(traffic().requests).toBe(requests + 2);
  });

  test('files that are too much for one answer come in several; one that is too large alone is refused', async () => {
    const files = Object.fromEntries([0, 1, 2, 3].map((i) => [`${i}`, `${i}`.repeat(3000)]));
    const id = source.commit({ ...files, large: 'x'.repeat(9000) });
    const { client } = clientOf(await gitServer(join(source.directory, '.git')), { limits: { total: 7000 } });
    const repository = openHttpRepository({ client });
    await repository.bring([id]);
    const listed = await listFiles(repository.objects, id);
    const small = listed.filter(({ path }) => path !== 'large');
    await repository.objects.prefetch(small.map((file) => file.id));
    for (const file of small) expect((await repository.objects.read(file.id)).size).toBe(3000);
    const large = listed.find(({ path }) => path === 'large')?.id ?? '';
    await expect(repository.objects.read(large)).rejects.toMatchObject({ code: 'too-large' });
  });

  test('144: one file that is too large, or not there, fails for its own reader', async () => {
    const files = Object.fromEntries([0, 1, 2, 3].map((i) => [`${i}`, `${i}`.repeat(30)]));
    const id = source.commit({ ...files, large: 'x'.repeat(9000) });
    const { client, traffic } = clientOf(await gitServer(join(source.directory, '.git')), {
      limits: { object: 7000 },
    });
    const repository = openHttpRepository({ client });
    await repository.bring([id]);
    const listed = await listFiles(repository.objects, id);
    const none = { path: 'none', id: 'a'.repeat(40) };
    const read = (all: readonly { path: string; id: string }[]): Promise<string[]> =>
      Promise.all(
        all.map(({ path, id: file }) =>
          repository.objects.read(file).then(
            ({ size }) => `${path}: ${size}`,
            ({ code }) => `${path}: ${code}`,
          ),
        ),
      );
    const expected = ['0: 30', '1: 30', '2: 30', '3: 30', 'large: too-large', 'none: not-found'];
    expect(await read([...listed, none])).toEqual(expected);
    const { requests } = traffic();
    // A hint does not fail, and what is too large is not asked for again.
    await repository.objects.prefetch(listed.map((file) => file.id));
    expect(await read(listed)).toEqual(expected.slice(0, -1));
    expect(traffic().requests).toBe(requests);
  });

  test('144: a server that has none of many files is asked a few times', async () => {
    const { repository, traffic } = await open();
    await repository.bring([source.commit({ a: '1' })]);
    const { requests } = traffic();
    const ids = Array.from({ length: 1000 }, (_, i) => `${i}`.padStart(40, 'a'));
    await expect(repository.objects.bring(ids)).rejects.toMatchObject({ code: 'not-found' });
    expect(traffic().requests - requests).toBeLessThan(50);
  });

  test('a commit that is not there is named', async () => {
    const id = source.commit({ a: '1' });
    const none = 'a'.repeat(40);
    const { repository } = await open();
    await expect(repository.bring([id, none])).rejects.toMatchObject({
      code: 'not-found',
      message: `the repository does not serve ${none}`,
    });
    expect(await hasCommit(repository, none)).toBe(false);
    expect(await hasCommit(repository, id)).toBe(true);
    expect(await repository.resolve([id])).toEqual([id]);
    await expect(repository.resolve(['main'])).rejects.toMatchObject({ code: 'not-found' });
    await expect(repository.bring(['main'])).rejects.toMatchObject({ code: 'git' });
    expect(() => repository.scratch).toThrow('needs the git program');
  });
});

describe('ancestors', () => {
  /** Each commit has earlier ones as parents, by their numbers. */
  const graph = fc.array(fc.array(fc.nat(20), { maxLength: 2 }), { minLength: 2, maxLength: 7 });

  test('are what git says they are, whatever the history', async () => {
    await fc.assert(
      fc.asyncProperty(graph, async (parents) => {
        const ids: string[] = [];
        for (const [i, numbers] of parents.entries()) {
          const from = i === 0 ? [] : [...new Set(numbers.map((number) => ids[number % i] ?? ''))];
          ids.push(source.commit({ a: `${i}` }, { parents: from, message: `${i}`, branch: `b${i}` }));
        }
        const { repository } = await open();
        for (const older of ids) {
          const known = new Set(source.git('rev-list', '--all', '--ancestry-path', `^${older}`).split('\n'));
          for (const newer of ids) {
            const expected = older === newer || known.has(newer);
            expect([older, newer, await isAncestor(repository, older, newer)]).toEqual([
              older,
              newer,
              expected,
            ]);
          }
        }
      }),
      runs(20),
    );
  });

  test('take one request, and no more commits than lie between', async () => {
    const ids = source.chain(...Array.from({ length: 300 }, (_, i) => ({ a: `${i}` })));
    const [old = '', near = '', tip = ''] = [ids[10], ids[290], ids[299]];
    const { repository, traffic } = await open();
    await repository.bring([old, near, tip]);
    const before = traffic();
    expect(await isAncestor(repository, near, tip)).toBe(true);
    expect(traffic().requests - before.requests).toBe(1);
    expect(traffic().received - before.received).toBeLessThan(2500);
    // The other way around is known by now.
    expect(await isAncestor(repository, tip, near)).toBe(false);
    expect(traffic().requests - before.requests).toBe(1);
    expect(await isAncestor(repository, tip, old)).toBe(false);
    expect(traffic().requests - before.requests).toBe(2);
    expect(traffic().received - before.received).toBeLessThan(3000);
  });

  test('asked both ways at once, none waits for the other', async () => {
    const [old = '', tip = ''] = source.chain({ a: '1' }, { a: '2' }, { a: '3' }).filter((_, i) => i !== 1);
    const { repository } = await open();
    await repository.bring([old, tip]);
    const both = [isAncestor(repository, old, tip), isAncestor(repository, tip, old)];
    expect(await Promise.all(both)).toEqual([true, false]);
  });

  test('a commit that is gone is not found', async () => {
    const id = source.commit({ a: '1' });
    const { repository } = await open();
    await expect(isAncestor(repository, 'b'.repeat(40), id)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('servers', () => {
  const ID = 'c'.repeat(40);
  const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  const CAN = `${line('version 2\n')}${line('ls-refs\n')}${line('fetch=shallow filter\n')}${line('object-format=sha1\n')}0000`;

  /** A server whose first answer is what a good one says of itself. */
  async function serving(answer: string | Buffer | RequestListener): Promise<string> {
    const server = createServer((request, response) => {
      request.resume();
      if (request.url?.includes('/info/refs')) return void response.end(CAN);
      if (typeof answer === 'function') return void answer(request, response);
      response.end(answer);
    });
    return `http://${await listen(server)}/example/catalogs.git`;
  }

  test.each([
    ['a server that sends whole repositories only', '', ['filter']],
    ['a server that speaks an older version', 'old', ['version 2 of the protocol']],
  ])('%s', async (_, kind, lacking) => {
    source.commit({ a: '1' }, { branch: 'main' });
    source.git('config', 'uploadpack.allowFilter', 'false');
    const real = await gitServer(join(source.directory, '.git'));
    const { client } = clientOf(kind === 'old' ? await withoutVersion(real) : real);
    expect(await client.lacking()).toEqual(lacking);
  });

  /** Forgets the header that asks for version 2. */
  async function withoutVersion(url: string): Promise<string> {
    const server = createServer(async (request, response) => {
      const answer = await fetch(`${new URL(url).origin}${request.url}`);
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    return `http://${await listen(server)}${new URL(url).pathname}`;
  }

  test('a server that can do all of it, with the name of the service before, as GitHub has it', async () => {
    const server = createServer((_, response) =>
      response.end(`${line('# service=git-upload-pack\n')}0000${CAN}`),
    );
    expect(await clientOf(`http://${await listen(server)}/a.git`).client.lacking()).toEqual([]);
  });

  const band = (number: number, text: string): string => line(`${String.fromCharCode(number)}${text}`);
  test.each<[string, string, string, string]>([
    ['an answer that is a page', '<html></html>', 'bad-answer', 'is not the length of a line'],
    ['an answer without a pack', '0000', 'bad-answer', 'the answer has no pack'],
    ['an empty answer', '', 'bad-answer', 'the answer has no pack'],
    [
      'an error',
      line('ERR upload-pack: out of memory\n'),
      'bad-answer',
      'the git server refused: upload-pack: out of memory',
    ],
    [
      'an error beside the pack',
      `${line('packfile\n')}${band(3, 'killed\u001b[31m')}0000`,
      'bad-answer',
      'refused: killed [31m',
    ],
    [
      'an object that is not served',
      line(`ERR upload-pack: not our ref ${ID}\n`),
      'not-found',
      `does not serve ${ID}`,
    ],
    [
      'a damaged pack',
      `${line('packfile\n')}${band(2, 'working')}${band(1, 'PACKPACK')}0000`,
      'corrupt',
      'damaged pack',
    ],
    ['half an answer', `${line('packfile\n')}00ffPACK`, 'bad-answer', 'ends within a line'],
  ])('%s', async (_, answer, code, message) => {
    const { client } = clientOf(await serving(answer));
    await expect(client.fetch({ wants: [ID], filter: 'tree:0' })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  test('other bytes than those of the object that was asked for', async () => {
    source.commit({ a: 'one' }, { branch: 'main' });
    const real = await gitServer(join(source.directory, '.git'));
    const other = source.git('rev-parse', 'main:a');
    // Whatever is asked for, another object is sent.
    const url = await serving(async (_, response) => {
      const body = `${line('command=fetch\n')}${line('object-format=sha1\n')}0001${line(`want ${other}\n`)}${line('filter tree:0\n')}${line('done\n')}0000`;
      const headers = {
        'git-protocol': 'version=2',
        'content-type': 'application/x-git-upload-pack-request',
      };
      const answer = await fetch(`${real}/git-upload-pack`, { method: 'POST', body, headers });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    const { client } = clientOf(url);
    expect([...(await client.fetch({ wants: [other], filter: 'tree:0' })).keys()]).toEqual([other]);
    await expect(client.fetch({ wants: [ID], filter: 'tree:0' })).rejects.toMatchObject({
      code: 'corrupt',
      message: `the git server did not send ${ID}, or sent other bytes for it`,
    });
  });

  test('an answer that is too large is not read to its end', async () => {
    const url = await serving(line('x'.repeat(5000)));
    const { client } = clientOf(url, { limits: { answer: 1000 } });
    await expect(client.fetch({ wants: [ID], filter: 'tree:0' })).rejects.toMatchObject({
      code: 'too-large',
    });
  });

  test.each([
    [401, 'denied'],
    [403, 'denied'],
    [404, 'denied'],
    [503, 'bad-answer'],
  ])('status %i', async (status, code) => {
    const { client } = clientOf(await serving((_, response) => void response.writeHead(status).end()));
    await expect(client.fetch({ wants: [ID], filter: 'tree:0' })).rejects.toMatchObject({ code });
  });

  test('the token goes to the repository, and not where that redirects', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers);
      response.end(CAN);
    });
    const other = await listen(elsewhere);
    const here: IncomingHttpHeaders[] = [];
    const moved = createServer((request, response) => {
      here.push(request.headers);
      response.writeHead(302, { location: `http://${other}${request.url}` }).end();
    });
    const host = await listen(moved);
    const transport = openTransport({ internal: [host, other], plainHttp: [host, other] });
    transports.push(transport);
    const url = `http://${host}/example/catalogs.git`;
    const client = openGitClient({ url, authorization: async () => 'Basic secret', transport });
    await expect(client.lacking()).rejects.toMatchObject({
      code: 'git',
      message: expect.stringContaining('redirects'),
    });
    expect(here.map(({ authorization }) => authorization)).toEqual(['Basic secret']);
    expect(seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test('plain HTTP is used for a host that is named as plain only', async () => {
    const transport = openTransport({ internal: ['localhost'] });
    transports.push(transport);
    const client = openGitClient({
      url: await serving(''),
      authorization: async () => 'Basic secret',
      transport,
    });
    await expect(client.lacking()).rejects.toMatchObject({ code: 'not-allowed' });
  });

  test('what failed once is asked for again', async () => {
    let times = 0;
    const server = createServer(
      (_, response) => void (times++ === 0 ? response.writeHead(404).end() : response.end(CAN)),
    );
    const { client } = clientOf(`http://${await listen(server)}/a.git`);
    await expect(client.lacking()).rejects.toMatchObject({ code: 'denied' });
    expect(await client.lacking()).toEqual([]);
  });
});
