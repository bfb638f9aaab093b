// GNU tar and gzip read what is written, and what they write is read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCompressor, probeBytes } from '../../pipeline/oci/image/compress.ts';
import { writeTar } from '../../pipeline/oci/registry/archive/tar.ts';
import { folder } from '../fakes/folder.ts';
import { noise, sampleImage } from '../fakes/image.ts';
import { readFrom, tarIndex, writeTo } from '../fakes/place.ts';

test('links to layers, as old docker save writes them, are followed', async () => {
  const directory = folder();
  const image = sampleImage({ layers: ['a'], format: 'docker' });
  await writeTo(`docker-archive:${directory}/1.tar`, image);
  const tree = join(directory, 'tree');
  mkdirSync(join(tree, 'other'), { recursive: true });
  execFileSync('tar', ['xf', join(directory, '1.tar'), '-C', tree]);
  const manifest = JSON.parse(readFileSync(join(tree, 'manifest.json'), 'utf8'));
  symlinkSync(`../${manifest[0].Layers[0]}`, join(tree, 'other/layer.tar'));
  writeFileSync(
    join(tree, 'manifest.json'),
    JSON.stringify([{ ...manifest[0], Layers: ['other/layer.tar'] }]),
  );
  execFileSync('tar', ['cf', join(directory, '2.tar'), '-C', tree, '.']);
  const one = await readFrom(`docker-archive:${directory}/1.tar`);
  const two = await readFrom(`docker-archive:${directory}/2.tar`);
  expect(two.root).toEqual(one.root);
  await one.close();
  await two.close();
});

test('entries are found where GNU tar and pax put them', async () => {
  const directory = folder();
  const long = `${'long-'.repeat(18)}name/${'deep-'.repeat(18)}name`;
  mkdirSync(join(directory, 'in', long), { recursive: true });
  writeFileSync(join(directory, 'in', long, 'a.txt'), 'content');
  writeFileSync(join(directory, 'in', 'ümlaut.txt'), 'other');
  for (const format of ['gnu', 'pax', 'ustar']) {
    const file = join(directory, `${format}.tar`);
    execFileSync('tar', ['cf', file, `--format=${format}`, '-C', join(directory, 'in'), '.']);
    const index = await tarIndex(file);
    const entry = index.get(`${long}/a.txt`);
    expect(
      readFileSync(file)
        .subarray(entry?.offset, (entry?.offset ?? 0) + 7)
        .toString(),
    ).toBe('content');
    expect(index.get('ümlaut.txt')).toMatchObject({ kind: 'file', size: 5 });
  }
});

test('what we write GNU tar reads', async () => {
  const file = join(folder(), 'x.tar');
  const bytes = noise(1000);
  await writeTar(file, [
    {
      name: 'a/b',
      size: 1000,
      async *open() {
        yield bytes;
      },
    },
    { name: 'empty', size: 0, async *open() {} },
  ]);
  expect(execFileSync('tar', ['tf', file]).toString()).toBe('a/b\nempty\n');
  expect(execFileSync('tar', ['xOf', file, 'a/b']).equals(bytes)).toBe(true);
});

test('gzip reads what is compressed', async () => {
  const found: Buffer[] = [];
  const to = await openCompressor('gzip', (bytes) => found.push(Buffer.from(bytes)));
  await to.write(probeBytes());
  await to.end();
  const read = execFileSync('gzip', ['-dc'], { input: Buffer.concat(found), maxBuffer: 1 << 22 });
  expect(Buffer.compare(read, probeBytes())).toBe(0);
});
