import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Reference } from '../../../../../catalog/reference.ts';
import { collectGarbage } from '../../../../../pipeline/oci/registry/layout/collect.ts';
import { stampOf } from '../../../../../pipeline/oci/registry/layout/files.ts';
import { openLayout } from '../../../../../pipeline/oci/registry/layout/layout.ts';
import { withLock } from '../../../../../pipeline/oci/registry/layout/lock.ts';
import { layoutRegistry } from '../../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../../../pipeline/oci/registry/push.ts';
import { folder } from '../../../../fakes/folder.ts';
import { bytesOf, noise, sampleImage, sampleReferrer, source } from '../../../../fakes/image.ts';

const tag = (name: string, repository = ''): Reference => ({
  kind: 'tag',
  registry: '',
  repository,
  tag: name,
});
const own = { registry: '', repository: '' };

async function layout(directory = join(folder(), 'layout')) {
  const opened = await openLayout(directory, { create: true });
  return { ...opened, registry: layoutRegistry(opened) };
}

const indexOf = (directory: string) => JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8'));

describe('a layout', () => {
  test('is begun with all that it needs, and is read again', async () => {
    const { directory } = await layout();
    expect(JSON.parse(readFileSync(join(directory, 'oci-layout'), 'utf8'))).toEqual({
      imageLayoutVersion: '1.0.0',
    });
    expect(indexOf(directory)).toMatchObject({ schemaVersion: 2, manifests: [] });
    await openLayout(directory, { create: false });
  });

  test('is not begun over other things, nor where it is only to be read', async () => {
    const directory = folder();
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    await expect(openLayout(directory, { create: true })).rejects.toMatchObject({ code: 'usage' });
    await expect(openLayout(join(directory, 'none'), { create: false })).rejects.toMatchObject({
      code: 'not-found',
    });
    expect(readdirSync(directory)).toEqual(['notes.txt']);
    await expect(openLayout(join(directory, 'notes.txt'), { create: true })).rejects.toMatchObject({
      code: expect.stringMatching(/io|not-found/),
    });
  });

  test('refuses a blob of another size than the one that is asked for', async () => {
    const { registry } = await layout();
    const blob = source(noise(100));
    await registry.putBlob(own, blob);
    expect(await registry.hasBlob(own, blob.digest, 100)).toBe(true);
    expect(await registry.hasBlob(own, blob.digest)).toBe(true);
    await expect(registry.hasBlob(own, blob.digest, 101)).rejects.toMatchObject({ code: 'corrupt' });
    expect(await registry.hasBlob(own, source(noise(101)).digest, 101)).toBe(false);
  });

  test('holds an image with one entry, by a bare tag', async () => {
    const { directory, registry } = await layout();
    const image = sampleImage({ architectures: ['amd64', 'arm64'] });
    await pushImage(registry, tag('v1'), { image });
    expect(indexOf(directory).manifests).toEqual([
      {
        mediaType: image.root.mediaType,
        digest: image.root.digest,
        size: image.root.bytes.length,
        annotations: { 'org.opencontainers.image.ref.name': 'v1' },
      },
    ]);
    expect(await registry.getManifest(tag('v1'))).toEqual(image.root);
    for (const blob of image.blobs) {
      expect(await bytesOf(registry.getBlob(own, blob))).toEqual(await bytesOf(blob.open(0)));
    }
    const again = await pushImage(registry, tag('v1'), { image });
    expect(again.unchanged).toBe(true);
  });

  test('keeps repositories apart', async () => {
    const { directory, registry, repositories } = await layout();
    const one = sampleImage({ layers: ['one'] });
    const two = sampleImage({ layers: ['two'] });
    await pushImage(registry, tag('v1'), { image: one });
    await pushImage(registry, tag('v1', 'a/b'), { image: two });
    expect(await registry.resolve(tag('v1'))).toMatchObject({ digest: one.root.digest });
    expect(await registry.resolve(tag('v1', 'a/b'))).toMatchObject({ digest: two.root.digest });
    expect(
      await registry.resolve({ kind: 'digest', registry: '', repository: '', digest: two.root.digest }),
    ).toBeUndefined();
    expect(await repositories()).toEqual(['', 'a/b']);
    expect(indexOf(directory).manifests[1].annotations).toEqual({
      'org.opencontainers.image.ref.name': 'a/b:v1',
    });
  });

  test('sees what another has written into the directory', async () => {
    const { directory, registry } = await layout();
    const other = await layout(directory);
    for (const layers of [['1'], ['2'], ['3']]) {
      const image = sampleImage({ layers });
      await pushImage(other.registry, tag('v1'), { image });
      expect(await registry.resolve(tag('v1'))).toMatchObject({ digest: image.root.digest });
    }
  });

  test('lists referrers, and their list in a tag as others keep it', async () => {
    const { registry } = await layout();
    const image = sampleImage();
    const about = sampleReferrer(image.root, 'test/x');
    await pushImage(registry, tag('v1'), { image });
    await pushImage(registry, { kind: 'digest', ...own, digest: about.root.digest }, { image: about });
    expect(await registry.listReferrers(own, image.root.digest)).toMatchObject([{ artifactType: 'test/x' }]);
    expect(await registry.listReferrers(own, image.root.digest, 'other')).toEqual([]);
  });
});

describe('writing', () => {
  test('blobs are there whole or not at all', async () => {
    const { directory, registry, blobs } = await layout();
    const blob = source(noise(100_000));
    const wrong = { ...blob, open: source(noise(100_000, 'other')).open };
    const broken = {
      ...blob,
      async *open() {
        yield Buffer.alloc(10);
        throw new Error('source broke');
      },
    };
    await expect(registry.putBlob(own, wrong)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(registry.putBlob(own, broken)).rejects.toThrow('source broke');
    expect(await blobs.size(blob.digest)).toBeUndefined();
    expect(readdirSync(join(directory, '.portolan-uploads'))).toEqual([]);
    expect(await registry.putBlob(own, blob)).toBe('uploaded');
    expect(await registry.putBlob(own, blob)).toBe('present');
  });

  test('a blob that was cut short is written anew', async () => {
    const { directory, registry } = await layout();
    const blob = source(noise(1000));
    const path = join(directory, 'blobs', blob.digest.replace(':', '/'));
    writeFileSync(path, 'short');
    expect(await registry.putBlob(own, blob)).toBe('uploaded');
    expect(await bytesOf(registry.getBlob(own, blob))).toHaveLength(1000);
  });

  test('a manifest is not taken without what it names', async () => {
    const { registry } = await layout();
    const image = sampleImage({ architectures: ['a', 'b'] });
    for (const blob of image.blobs) await registry.putBlob(own, blob);
    await expect(registry.putManifest(tag('v1'), image.root)).rejects.toMatchObject({ code: 'not-found' });
    expect(await registry.resolve(tag('v1'))).toBeUndefined();
  });

  test('many at a time lose nothing, in one process and in several', async () => {
    const { directory, registry } = await layout();
    const others = [await layout(directory), await layout(directory)];
    const image = sampleImage();
    await pushImage(registry, tag('base'), { image });
    const names = Array.from({ length: 30 }, (_, i) => `v${i}`);
    await Promise.all(
      names.map((name, i) =>
        [registry, ...others.map((one) => one.registry)][i % 3]?.putManifest(tag(name), image.root),
      ),
    );
    const found: string[] = [];
    for await (const name of registry.listTags(own)) found.push(name);
    expect(found).toEqual(['base', ...names].sort());
    expect(existsSync(join(directory, 'index.json.lock'))).toBe(false);
  });

  test('a lock is broken when its process has ended, and else when it is old', async () => {
    const { directory, registry } = await layout();
    const lock = join(directory, 'index.json.lock');
    const image = sampleImage();
    let owner = '';
    await withLock(lock, async () => {
      owner = readFileSync(lock, 'utf8');
    });
    const { pid } = spawnSync(process.execPath, ['--version']);
    // One that has ended; a later process with the same id as one that has ended.
    for (const [name, change] of Object.entries({ ended: { pid }, reused: { began: '1' } })) {
      writeFileSync(lock, JSON.stringify({ ...JSON.parse(owner), ...change }));
      const before = await stampOf(lock);
      await pushImage(registry, tag(name), { image });
      expect(await stampOf(lock)).not.toBe(before);
    }
    // Of another machine's process, and of one that is about to say whose it is.
    for (const text of [JSON.stringify({ ...JSON.parse(owner), place: 'other', pid }), '']) {
      writeFileSync(lock, text);
      const pushed = pushImage(registry, tag('v1'), { image: sampleImage({ layers: [text] }) });
      await new Promise((done) => setTimeout(done, 300));
      expect(readFileSync(lock, 'utf8')).toBe(text);
      const long = new Date(Date.now() - 60_000);
      utimesSync(lock, long, long);
      await pushed;
    }
    // However old, one of a process that lives stands.
    writeFileSync(lock, owner);
    utimesSync(lock, new Date(0), new Date(0));
    const waiting = pushImage(registry, tag('v2'), { image });
    await new Promise((done) => setTimeout(done, 300));
    expect(readFileSync(lock, 'utf8')).toBe(owner);
    rmSync(lock);
    await waiting;
    expect(readdirSync(directory).filter((name) => name.includes('lock'))).toEqual([]);
  });

  test('what a killed upload left long ago is removed', async () => {
    const { directory } = await layout();
    const uploads = join(directory, '.portolan-uploads');
    mkdirSync(uploads, { recursive: true });
    const long = new Date(Date.now() - 48 * 3600 * 1000);
    for (const name of ['old', 'new']) writeFileSync(join(uploads, name), 'x');
    utimesSync(join(uploads, 'old'), long, long);
    await layout(directory);
    expect(readdirSync(uploads)).toEqual(['new']);
  });

  test('146: so is what a killed change of the index left, and nothing else', async () => {
    const { directory } = await layout();
    const long = new Date(Date.now() - 48 * 3600 * 1000);
    const [old, recent] = [`.${randomUUID()}`, `.${randomUUID()}`];
    const before = readdirSync(directory);
    for (const name of [old, recent]) writeFileSync(join(directory, name), 'x');
    for (const name of [...before, old]) utimesSync(join(directory, name), long, long);
    await layout(directory);
    expect(readdirSync(directory).sort()).toEqual([...before, recent].sort());
  });
});

describe('many changes', () => {
  const names = Array.from({ length: 20 }, (_, i) => `v${i}`);

  async function pushed(directory: string) {
    const journaled = await openLayout(directory, { create: true, journaled: true });
    const image = sampleImage();
    for (const name of names) await pushImage(layoutRegistry(journaled), tag(name), { image });
    await journaled.removeTag('', 'v3');
    return { journaled, image };
  }

  async function tagsIn(directory: string): Promise<readonly string[]> {
    const { tags } = await (await openLayout(directory, { create: false })).contents('');
    return [...tags.keys()];
  }

  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => {
    vi.useRealTimers();
  });

  test('are appended, and the index follows in a moment', async () => {
    const directory = join(folder(), 'layout');
    const { journaled } = await pushed(directory);
    const rest = names.filter((name) => name !== 'v3');
    // Others that know the journal see all, those who read the index alone find a whole one.
    expect(indexOf(directory).manifests).toHaveLength(1);
    expect(await tagsIn(directory)).toEqual(rest);
    await vi.advanceTimersByTimeAsync(500);
    await vi.waitFor(() => expect(indexOf(directory).manifests).toHaveLength(rest.length), 60_000);
    await journaled.removeTag('', 'v5');
    await journaled.close();
    expect(indexOf(directory).manifests).toHaveLength(rest.length - 1);
    expect(existsSync(join(directory, '.portolan-journal'))).toBe(false);
  });

  test('of a process that was killed are kept, and a line that it did not finish is not', async () => {
    const directory = join(folder(), 'layout');
    await pushed(directory);
    vi.clearAllTimers();
    appendFileSync(join(directory, '.portolan-journal'), '{"kind":"untag","repository":"","ta');
    const next = await layout(directory);
    expect(await tagsIn(directory)).not.toContain('v3');
    await next.removeTag('', 'v4');
    expect(indexOf(directory).manifests).toHaveLength(names.length - 2);
    expect(existsSync(join(directory, '.portolan-journal'))).toBe(false);
  });

  test('are kept behind a line that a full disk cut', async () => {
    const directory = join(folder(), 'layout');
    const { journaled } = await pushed(directory);
    appendFileSync(join(directory, '.portolan-journal'), '{"kind":"untag","repository":"","ta');
    await journaled.removeTag('', 'v4');
    expect(await tagsIn(directory)).toEqual(names.filter((name) => !/^v[34]$/.test(name)));
    await journaled.close();
  });

  test('are seen by a process that has them in its journal when another one writes the index', async () => {
    const directory = join(folder(), 'layout');
    const { journaled, image } = await pushed(directory);
    await pushImage((await layout(directory)).registry, tag('other'), { image });
    await journaled.removeTag('', 'v6');
    await journaled.close();
    expect(await tagsIn(directory)).toEqual([...names.filter((one) => !/^v[36]$/.test(one)), 'other']);
  });

  test('in a journal that somebody made up are refused', async () => {
    const { directory } = await layout();
    for (const [line, why] of [
      ['{"kind":"put","repository":"a","tag":"v1"}', /1 .*descriptor/],
      ['{"kind":"untag","repository":"../x","tag":"v1"}', /1 names no repository/],
      ['{"kind":"drop","repository":"a"}', /1 is not a change/],
      ['null', /1 names no repository/],
    ] as const) {
      writeFileSync(join(directory, '.portolan-journal'), `${line}\n`);
      await expect(tagsIn(directory)).rejects.toMatchObject({ code: 'corrupt', message: why });
    }
  });
});

describe('removing', () => {
  test('a list leaves its images, each by itself', async () => {
    const { registry } = await layout();
    const image = sampleImage({ architectures: ['a', 'b'] });
    await pushImage(registry, tag('v1'), { image });
    const digest = (name: string): Reference => ({ kind: 'digest', ...own, digest: name });
    expect(await registry.deleteManifest(digest(image.root.digest))).toBe(true);
    expect(await registry.resolve(tag('v1'))).toBeUndefined();
    for (const child of image.manifests) expect(await registry.resolve(digest(child.digest))).toBeDefined();
    expect(await registry.deleteManifest(digest(image.root.digest))).toBe(false);
  });

  test('an image out of a list, and back', async () => {
    const { registry } = await layout();
    const image = sampleImage({ architectures: ['a', 'b'] });
    await pushImage(registry, tag('v1'), { image });
    const [child] = image.manifests;
    if (!child) throw new Error('no child');
    const name: Reference = { kind: 'digest', ...own, digest: child.digest };
    expect(await registry.deleteManifest(name)).toBe(true);
    expect(await registry.resolve(name)).toBeUndefined();
    expect(await registry.resolve(tag('v1'))).toBeDefined();
    await registry.putManifest(name, child);
    expect(await registry.getManifest(name)).toEqual(child);
  });

  test('from one repository is not from another', async () => {
    const { registry } = await layout();
    const image = sampleImage();
    await pushImage(registry, tag('v1', 'a'), { image });
    await pushImage(registry, tag('v1', 'b'), { image });
    expect(
      await registry.deleteManifest({
        kind: 'digest',
        registry: '',
        repository: 'a',
        digest: image.root.digest,
      }),
    ).toBe(true);
    expect(await registry.resolve(tag('v1', 'a'))).toBeUndefined();
    expect(await registry.getManifest(tag('v1', 'b'))).toEqual(image.root);
  });
});

test('a manifest that is pushed to another repository while it is removed from one is not lost', async () => {
  const opened = await layout();
  const image = sampleImage();
  const { digest } = image.root;
  await pushImage(opened.registry, tag('v1', 'a'), { image });
  const { remove } = opened.blobs;
  let pushing: Promise<void> | undefined;
  vi.spyOn(opened.blobs, 'remove').mockImplementation(async (name) => {
    pushing = opened.add('b', 'v1', image.root);
    // The push gets as far as it can before the file is gone.
    for (let turn = 0; turn < 1000; turn++) if ((await opened.contents('b')).tags.has('v1')) break;
    return remove(name);
  });
  expect(await opened.removeManifest('a', digest)).toBe(true);
  await pushing;
  expect(await opened.registry.getManifest(tag('v1', 'b'))).toEqual(image.root);
});

describe('a directory that somebody handed over', () => {
  test('cannot make us read another file', async () => {
    const { directory, registry } = await layout();
    const secret = join(folder(), 'secret');
    writeFileSync(secret, 'secret');
    const blob = source(Buffer.from('secret'));
    symlinkSync(secret, join(directory, 'blobs', blob.digest.replace(':', '/')));
    await expect(bytesOf(registry.getBlob(own, blob))).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('symbolic link'),
    });
  });

  test('103: has no folder or file elsewhere, linked into it', async () => {
    const { directory, registry } = await layout();
    const image = sampleImage();
    await pushImage(registry, tag('v1'), { image });
    const elsewhere = folder();
    const upload = join(elsewhere, '.portolan-uploads', 'old');
    mkdirSync(join(elsewhere, '.portolan-uploads'));
    writeFileSync(upload, 'not an upload');
    utimesSync(upload, 0, 0);
    const places = [
      'oci-layout',
      'index.json',
      '.portolan-journal',
      '.portolan-uploads',
      'blobs',
      'blobs/sha256',
    ];
    for (const name of places) {
      const [place, other] = [join(directory, name), join(elsewhere, name)];
      if (existsSync(place)) cpSync(place, other, { recursive: true });
      const kept = `${place}.kept`;
      if (existsSync(place)) renameSync(place, kept);
      symlinkSync(other, place);
      const refused = { code: 'usage', message: `${place} is a link out of the OCI image layout` };
      for (const create of [false, true])
        await expect(openLayout(directory, { create })).rejects.toMatchObject(refused);
      await expect(collectGarbage(directory, { youngest: 0, dryRun: false })).rejects.toMatchObject(refused);
      rmSync(place);
      if (existsSync(kept)) renameSync(kept, place);
    }
    expect(existsSync(upload)).toBe(true);
    // A link inside, and one to the layout, are those of whoever made it.
    renameSync(join(directory, 'blobs/sha256'), join(directory, 'blobs/all'));
    symlinkSync('all', join(directory, 'blobs/sha256'));
    symlinkSync(directory, join(elsewhere, 'layout'));
    const again = await layout(join(elsewhere, 'layout'));
    expect(await again.registry.getManifest(tag('v1'))).toEqual(image.root);
  });

  test('103: cannot pass another file off as content', async () => {
    const { directory, registry } = await layout();
    const other = join(folder(), 'other');
    writeFileSync(other, 'other');
    const blob = source(Buffer.from('other'));
    symlinkSync(other, join(directory, 'blobs', blob.digest.replace(':', '/')));
    expect(await registry.hasBlob(own, blob.digest)).toBe(false);
    expect(await registry.putBlob(own, blob)).toBe('uploaded');
    expect(await bytesOf(registry.getBlob(own, blob))).toEqual(Buffer.from('other'));
  });

  test('103: cannot change the time of another file', async () => {
    const { directory, blobs } = await layout();
    const other = join(folder(), 'other');
    writeFileSync(other, 'other');
    utimesSync(other, 1, 1);
    const { digest } = source(Buffer.from('other'));
    symlinkSync(other, join(directory, 'blobs', digest.replace(':', '/')));
    await blobs.touch(digest);
    expect(statSync(other).mtimeMs).toBe(1000);
  });

  test('has bytes that are not those of their names', async () => {
    const { directory, registry } = await layout();
    const image = sampleImage();
    await pushImage(registry, tag('v1'), { image });
    const [blob] = image.blobs;
    if (!blob) throw new Error('no blob');
    writeFileSync(join(directory, 'blobs', blob.digest.replace(':', '/')), noise(blob.size));
    await expect(bytesOf(registry.getBlob(own, blob))).rejects.toMatchObject({ code: 'corrupt' });
    writeFileSync(join(directory, 'blobs', image.root.digest.replace(':', '/')), image.root.bytes.slice(1));
    const fresh = await layout(directory);
    await expect(fresh.registry.getManifest(tag('v1'))).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is read again once it is repaired', async () => {
    const { directory, registry } = await layout();
    const image = sampleImage();
    await pushImage(registry, tag('v1'), { image });
    const path = join(directory, 'blobs', image.root.digest.replace(':', '/'));
    const good = readFileSync(path);
    writeFileSync(path, Buffer.alloc(good.length));
    const later = await layout(directory);
    await expect(later.contents('')).rejects.toMatchObject({ code: 'corrupt' });
    writeFileSync(path, good);
    expect((await later.contents('')).tags.has('v1')).toBe(true);
  });

  test('lacks a manifest that its index names', async () => {
    const { directory, registry } = await layout();
    const image = sampleImage();
    await pushImage(registry, tag('v1'), { image });
    rmSync(join(directory, 'blobs', image.root.digest.replace(':', '/')));
    const fresh = await layout(directory);
    expect(await fresh.registry.resolve(tag('v1'))).toBeUndefined();
  });
});
