import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeFiles } from '../../pipeline/write.ts';

let home: string;
let clone: string;
let victim: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'portolan-write-'));
  [clone, victim] = [join(home, 'clone'), join(home, 'victim')];
  mkdirSync(join(clone, '.git'), { recursive: true });
  mkdirSync(victim);
  writeFileSync(join(victim, 'catalog.yaml'), 'kept');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const ONE = new Map([['catalog.yaml', 'new']]);

describe('files that are written into a clone', () => {
  test.each([
    ['a folder that is a link', () => symlinkSync(victim, join(clone, 'v4.21')), 'v4.21'],
    ['a folder below a link', () => symlinkSync(victim, join(clone, 'v4.21')), 'v4.21/etcd'],
    [
      'a link to what does not exist yet',
      () => symlinkSync(join(home, 'none'), join(clone, 'v4.21')),
      'v4.21',
    ],
    [
      'a link to another clone',
      () => {
        mkdirSync(join(victim, '.git'));
        symlinkSync(victim, join(clone, 'v4.21'));
      },
      'v4.21',
    ],
  ])('never leave it through %s', (_, plant, folder) => {
    plant();
    const before = readdirSync(victim);
    expect(() => writeFiles(join(clone, folder), ONE)).toThrow(
      'v4.21 leads out of the clone through a symbolic link: nothing is read or written',
    );
    expect(readFileSync(join(victim, 'catalog.yaml'), 'utf8')).toBe('kept');
    expect(readdirSync(victim)).toEqual(before);
  });

  test('replace a link in the place of a file', () => {
    symlinkSync(join(victim, 'catalog.yaml'), join(clone, 'catalog.yaml'));
    writeFiles(clone, ONE);
    expect(lstatSync(join(clone, 'catalog.yaml')).isFile()).toBe(true);
    expect(readFileSync(join(victim, 'catalog.yaml'), 'utf8')).toBe('kept');
  });

  test('follow no link that waits for the name of an unfinished file', () => {
    symlinkSync(join(victim, 'catalog.yaml'), join(clone, `catalog.yaml.${process.pid}.part`));
    writeFiles(clone, ONE);
    expect(lstatSync(join(clone, 'catalog.yaml')).isFile()).toBe(true);
    expect(readFileSync(join(victim, 'catalog.yaml'), 'utf8')).toBe('kept');
  });

  test('may go through a link within the clone, and anywhere outside of clones', () => {
    mkdirSync(join(clone, 'v4.20'));
    symlinkSync('v4.20', join(clone, 'latest'));
    symlinkSync(victim, join(home, 'elsewhere'));
    expect(writeFiles(join(clone, 'latest'), ONE).written).toEqual(['catalog.yaml']);
    expect(writeFiles(join(home, 'elsewhere'), ONE).written).toEqual(['catalog.yaml']);
    expect(readFileSync(join(victim, 'catalog.yaml'), 'utf8')).toBe('new');
  });

  test('may be bytes; what is there already is left alone', () => {
    const bytes = new Map([['a', Buffer.from([0xff, 0])]]);
    expect(writeFiles(clone, bytes).written).toEqual(['a']);
    expect(writeFiles(clone, bytes)).toEqual({ written: [], unchanged: ['a'], removed: [] });
  });
});
