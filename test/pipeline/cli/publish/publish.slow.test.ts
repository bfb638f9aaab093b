/** The fence as the command line has it: publishes in any order, one newest image. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseReference, type Reference, withDigest } from '../../../../catalog/reference.ts';
import type { Registry } from '../../../../pipeline/ports.ts';
import { COMMIT_TYPE } from '../../../../pipeline/publish/published-commit.ts';
import { folder } from '../../../fakes/folder.ts';
import { testClient } from '../../../fakes/host.ts';
import { registry } from '../../../fakes/registry.ts';
import { type SampleRepository, sampleRepository } from '../../../fakes/sample.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = sampleRepository();
});
afterAll(() => sample.remove());

interface Target {
  readonly words: readonly string[];
  /** The digest that the tag names now. */
  readonly now: () => Promise<string | undefined>;
  readonly place: { readonly registry: Registry; readonly tag: Reference };
}

async function target(...further: readonly string[]): Promise<Target> {
  const { host } = await registry();
  const name = `${host}/sea/catalog:v4.20`;
  const words = ['--catalog', 'v4.20', '--to', name, '--insecure', host, '--out', folder(), ...further];
  const place = { registry: testClient([host]), tag: parseReference(name) };
  return { words, place, now: async () => (await place.registry.resolve(place.tag))?.digest };
}

function publish(commit: string, { words }: Target): Promise<Ran> {
  return portolan(sample.directory, 'publish', '--commit', commit, ...words);
}

test('an older commit that comes late ends well and publishes nothing', async () => {
  const to = await target();
  expect((await publish('addition', to)).exit).toBe(0);
  const newest = await to.now();
  const late = await publish('main', to);
  expect(late).toMatchObject({
    exit: 0,
    out: expect.stringContaining(`the newer commit ${sample.addition}`),
  });
  expect(await to.now()).toBe(newest);
  expect(await publish('addition', to)).toMatchObject({
    exit: 0,
    out: expect.stringContaining('uploaded 0 bytes'),
  });
});

test('a commit beside the published one is refused, with the way to say that history was rewritten', async () => {
  const to = await target('--fence', folder());
  await publish('addition', to);
  const beside = await publish('stranding', to);
  expect(beside).toMatchObject({ exit: 2, err: expect.stringContaining('--epoch 1') });
  const raised = await portolan(
    sample.directory,
    ...['publish', '--commit', 'stranding', ...to.words, '--epoch', '1'],
  );
  expect(raised.exit).toBe(0);
  expect((await publish('addition', to)).exit).toBe(2);
});

/** A clone that knows no fence of the repository. */
function freshClone(): string {
  const directory = join(folder(), 'clone');
  execFileSync('git', ['clone', '--quiet', sample.directory, directory]);
  return directory;
}

describe('from clones that share no fence', () => {
  const publishFrom = (clone: string, commit: string, { words }: Target): Promise<Ran> =>
    portolan(clone, 'publish', '--commit', commit, ...words);

  test('the oldest of three commits, published last, leaves the tag where it is', async () => {
    const to = await target();
    // The same image: it then names two commits.
    const last = sample.commit({ 'README.md': 'x' }, { parents: [sample.addition], branch: 'last' });
    for (const commit of [sample.addition, last]) {
      expect((await publishFrom(freshClone(), commit, to)).exit).toBe(0);
    }
    const newest = await to.now();
    for (const late of [sample.base, sample.addition, sample.base]) {
      const ran = await publishFrom(freshClone(), late, to);
      expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining(`the newer commit ${last}`) });
      expect(await to.now()).toBe(newest);
    }
  });

  test('with a fence on a server, the oldest of three commits, published last, leaves the tag where it is', async () => {
    const server = join(folder(), 'fences.git');
    execFileSync('git', ['init', '--quiet', '--bare', server]);
    const to = await target('--fence', `file://${server}`);
    for (const commit of [sample.base, sample.addition]) await publishFrom(freshClone(), commit, to);
    const newest = await to.now();
    expect(await publishFrom(freshClone(), sample.base, to)).toMatchObject({
      exit: 0,
      out: expect.stringContaining(`the newer commit ${sample.addition}`),
    });
    expect(await to.now()).toBe(newest);
  });

  test('a clone whose fence is older than the published image learns the newer commit', async () => {
    const to = await target();
    const first = freshClone();
    await publishFrom(first, sample.base, to);
    await publishFrom(freshClone(), sample.addition, to);
    const newest = await to.now();
    expect((await publishFrom(first, sample.base, to)).out).toContain('nothing to publish');
    expect(await to.now()).toBe(newest);
  });

  test('a commit beside the published one is refused', async () => {
    const to = await target();
    await publishFrom(freshClone(), sample.addition, to);
    const newest = await to.now();
    const beside = await publishFrom(freshClone(), sample.stranding, to);
    expect(beside).toMatchObject({ exit: 2, err: expect.stringContaining('--epoch 1') });
    expect(await to.now()).toBe(newest);
  });

  test('a tag whose image names no commit is moved only with --take-over', async () => {
    const to = await target('--fence', 'none');
    await publish(sample.base, to);
    const { registry: at, tag } = to.place;
    const { digest } = (await at.resolve(tag)) ?? {};
    for (const { digest: one } of await at.listReferrers(tag, digest ?? '', COMMIT_TYPE)) {
      await at.deleteManifest(withDigest(tag, one));
    }
    const own = { ...to, words: [...to.words, '--fence', 'repo'] };
    expect(await publishFrom(freshClone(), sample.addition, own)).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/cannot tell which commit .*--take-over/s),
    });
    expect(await to.now()).toBe(digest);
    const taken = { ...own, words: [...own.words, '--take-over'] };
    expect((await publishFrom(freshClone(), sample.addition, taken)).exit).toBe(0);
    expect(await to.now()).not.toBe(digest);
  });
});

test('without a fence the last one wins, as told', async () => {
  const to = await target('--fence', 'none');
  await publish('addition', to);
  const newest = await to.now();
  await publish('main', to);
  expect(await to.now()).not.toBe(newest);
});

test.each([
  ['repos', 'there is no such directory'],
  ['github.com/acme/fence', 'there is no such directory'],
  ['README.md', 'there is no such directory'],
  ['git@github.com:acme/fence.git', 'not a git repository'],
  ['ssh://git@github.com/acme/fence.git', 'not a git repository'],
  ['HTTPS://github.com/acme/fence.git', 'not a git repository'],
  ['https:/github.com/acme/fence.git', 'not a git repository'],
])('--fence %s is refused, and nothing is published or created', async (place, why) => {
  const to = await target('--fence', place);
  const before = readdirSync(sample.directory);
  const refused = await publish('main', to);
  expect(refused).toMatchObject({
    exit: 2,
    err: expect.stringContaining(`${JSON.stringify(place)} as the fence: ${why}`),
  });
  expect(await to.now()).toBeUndefined();
  expect(readdirSync(sample.directory)).toEqual(before);
});

test('a newer commit that changes nothing in the catalog moves the fence and no tag', async () => {
  const fence = folder();
  const to = await target('--fence', fence);
  await publish('main', to);
  const before = await to.now();
  const next = sample.commit({ 'README.md': 'changed' }, { parents: [sample.base], branch: 'words' });
  expect(await publish(next, to)).toMatchObject({ out: expect.stringContaining('uploaded 0 bytes') });
  expect(await to.now()).toBe(before);
  expect(await publish('main', to)).toMatchObject({ out: expect.stringContaining(next) });
});

test('a catalog with errors is merged, not published, and the tag stays', async () => {
  const to = await target();
  await publish('main', to);
  const before = await to.now();
  const path = 'catalogs/v4.20/ferry-operator/catalog.yaml';
  const text = readFileSync(join('test/catalogs/sample', path), 'utf8');
  const broken = sample.commit(
    { [path]: text.replace('schema: olm.package', 'schema: olm.packages') },
    { parents: [sample.base], branch: 'broken' },
  );
  expect(await publish(broken, to)).toMatchObject({
    exit: 1,
    err: expect.stringContaining('FAIL: not published: the catalog has errors; the tag was not moved'),
  });
  expect(await to.now()).toBe(before);
});
