/** The fence as the command line has it: publishes in any order, one newest image. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseReference } from '../../../../catalog/reference.ts';
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
}

async function target(...further: readonly string[]): Promise<Target> {
  const { host } = await registry();
  const name = `${host}/sea/catalog:v4.20`;
  const words = ['--catalog', 'v4.20', '--to', name, '--insecure', host, '--out', folder(), ...further];
  return { words, now: async () => (await testClient([host]).resolve(parseReference(name)))?.digest };
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
