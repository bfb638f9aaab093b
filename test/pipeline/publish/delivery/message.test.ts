import { expect, test } from 'vitest';
import { isBranch, messageOf, readWork } from '../../../../pipeline/publish/delivery/message.ts';

const COMMIT = 'a'.repeat(40);
const push = { v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit: COMMIT } as const;
const catalog = { ...push, kind: 'catalog', catalog: 'v4.20' } as const;

test('what is sent is what is read', () => {
  const gate = { v: 1, kind: 'gate', repository: 'sea/catalogs', number: 7, event: 'e' } as const;
  const behind = { ...catalog, behind: 'b'.repeat(40) } as const;
  const pushed = { ...push, before: 'b'.repeat(40) } as const;
  const bundles = { ...pushed, kind: 'bundles' } as const;
  const again = { ...catalog, again: true, epoch: 2 } as const;
  for (const work of [push, pushed, bundles, catalog, behind, again, gate]) {
    const { id, group, body } = messageOf(work);
    expect(readWork(body)).toEqual(work);
    // What SQS takes for an id and a group.
    for (const text of [id, group]) expect(text).toMatch(/^[0-9a-f]{64}$/);
  }
});

test.each(['sea/catalogs', 'sea_1/x', 'sea/deep/er/catalogs', 'Sea.io/.github'])(
  '%s is a repository',
  (repository) => {
    const work = { ...push, repository } as const;
    expect(readWork(messageOf(work).body)).toEqual(work);
  },
);

test('catalogs go in parallel, those of one name in order', () => {
  const groups = [push, catalog, { ...catalog, catalog: 'v4.19' }].map((work) => messageOf(work).group);
  expect(new Set(groups).size).toBe(3);
  expect(messageOf({ ...catalog, commit: 'b'.repeat(40) }).group).toBe(messageOf(catalog).group);
});

test.each([
  ['no JSON', '{', 'not a version 1 message'],
  ['another version', JSON.stringify({ ...push, v: 2 }), 'not a version 1 message'],
  ['another kind', JSON.stringify({ ...push, kind: 'run' }), 'its kind is "run"'],
  ['a repository that is a path', JSON.stringify({ ...push, repository: '../x' }), 'expected owner/name'],
  ['a repository that is a folder', JSON.stringify({ ...push, repository: 'sea/..' }), 'expected owner/name'],
  ['a repository above another', JSON.stringify({ ...push, repository: 'a/../b' }), 'expected owner/name'],
  ['a group that is an option', JSON.stringify({ ...push, repository: 'a/-x/b' }), 'expected owner/name'],
  ['a group without a name', JSON.stringify({ ...push, repository: 'a//b' }), 'expected owner/name'],
  ['a branch that is an option', JSON.stringify({ ...push, branch: '--output=x' }), 'its branch'],
  ['a commit that is a revision', JSON.stringify({ ...push, commit: 'HEAD' }), 'expected a commit ID'],
  ['half a character', JSON.stringify({ ...catalog, catalog: '\ud800' }), 'its catalog is "\\ud800"'],
  ['no catalog', JSON.stringify({ ...catalog, catalog: undefined }), 'its catalog'],
  ['a newer commit that is a path', JSON.stringify({ ...catalog, behind: '../x' }), 'it is behind "../x"'],
  ['an older commit that is a path', JSON.stringify({ ...push, before: '../x' }), 'it is after "../x"'],
  ['an epoch that is none', JSON.stringify({ ...catalog, epoch: -1 }), 'its epoch is -1'],
  [
    'no time at which it was asked',
    JSON.stringify({ ...catalog, kind: 'ring', act: 'release', by: 'a', why: 'b', asked: 'soon' }),
    'its asked is "soon"',
  ],
  ['a number that is none', JSON.stringify({ ...push, kind: 'gate', number: '7' }), 'its number is "7"'],
])('a message with %s is never handled', (_, body, why) => {
  expect(() => readWork(body)).toThrow(why);
});

test.each(['main', 'release-4.20', 'feature/x', 'a.b+c'])('%s is a branch', (name) => {
  expect(isBranch(name)).toBe(true);
});

test.each(['-x', 'a..b', 'a//b', 'a.lock', 'a/.b', 'a/', 'a.', '', 'a b', 'a\nb', 'a~1', 'a:b'])(
  '%j is none',
  (name) => expect(isBranch(name)).toBe(false),
);
