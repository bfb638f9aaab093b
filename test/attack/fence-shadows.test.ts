/** Branches and tags that are called as the fence's refs: they neither stand for a claim nor keep one back. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Fence } from '../../pipeline/ports.ts';
import { gitFence } from '../../pipeline/publish/fence-git.ts';
import { commitOf, digestOf, NAME } from '../fakes/fence-contract.ts';
import { folder } from '../fakes/folder.ts';

const REF = `refs/portolan/${NAME}`;

function open(repository: string): Fence {
  const fence = gitFence({ repository, settings: { searchPath: process.env['PATH'] } });
  onTestFinished(fence.close);
  return fence;
}

test.each([
  ['in a directory', 'heads', (directory: string) => directory],
  ['in a directory', 'tags', (directory: string) => directory],
  ['behind a URL', 'heads', (directory: string) => pathToFileURL(directory).href],
  ['behind a URL', 'tags', (directory: string) => pathToFileURL(directory).href],
])('%s: refs/%s/refs/portolan/… is no fence', async (_, kind, placeOf) => {
  const directory = join(folder(), 'catalogs.git');
  const git = (...parameters: string[]): string =>
    execFileSync('git', ['-C', directory, ...parameters], { encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', directory]);
  const forged = await open(directory).replace(
    NAME,
    { epoch: 999, commit: commitOf(9), digest: digestOf(9) },
    undefined,
  );
  const shadow = `refs/${kind}/${REF}`;
  git('update-ref', shadow, REF);
  git('update-ref', '-d', REF);

  const fence = open(placeOf(directory));
  expect(await fence.read(NAME)).toBeUndefined();
  const first = await fence.replace(NAME, { epoch: 0, commit: commitOf(1), digest: digestOf(1) }, undefined);
  expect(await fence.read(NAME)).toEqual(first);
  const second = await fence.replace(NAME, { epoch: 0, commit: commitOf(2), digest: digestOf(2) }, first);
  expect(await fence.read(NAME)).toEqual(second);
  expect(git('for-each-ref', '--format=%(refname) %(objectname)').split('\n').sort()).toEqual(
    [`${REF} ${second?.version}`, `${shadow} ${forged?.version}`].sort(),
  );
});
