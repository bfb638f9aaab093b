import { expect, test } from 'vitest';
import type { Channel, Entry, Package } from '../../../../catalog/fbc/model.ts';
import { withMoreRanges, withMoreSkips, withoutEntries } from '../../../../catalog/olm/advisory/rewrites.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { catalogFrom, PACKAGE, type WrittenEntry } from '../universe.ts';

async function packageOf(versions: readonly string[], a: readonly WrittenEntry[]): Promise<Package> {
  const catalog = await catalogFrom({ [PACKAGE]: { versions, channels: { a } } });
  return catalog.packages.get(PACKAGE) as Package;
}

function shown(entries: readonly Entry[]): string[] {
  return entries.map(
    ({ name, replaces, skips, skipRange }) => `${name}: ${replaces}; ${skips.join(' ')}; ${skipRange}`,
  );
}

/** The different ways to write the entries of a channel, in their order. */
async function ways(
  versions: readonly string[],
  entries: readonly WrittenEntry[],
  { gone, kept = false }: { readonly gone: readonly string[]; readonly kept?: boolean },
): Promise<string[][]> {
  const ofPackage = await packageOf(versions, entries);
  const channel = ofPackage.channels.get('a') as Channel;
  const all = withoutEntries(channel, new Set(gone), { ofPackage, kept }).map(shown);
  return all.filter((one, i) => all.findIndex((other) => String(other) === String(one)) === i);
}

test('the head below a removed one may inherit its skips and ranges, as far as they are of older versions', async () => {
  const entries = [
    {
      name: 'p.v1.2.0',
      replaces: 'p.v1.1.0',
      skips: ['p.v0.9.0', 'p.v1.1.0', 'p.v1.1.1'],
      skipRange: '>=0.5.0 <1.2.0 || =0.1.0',
    },
    { name: 'p.v1.1.0', skips: ['p.v0.8.0'], skipRange: '<0.3.0' },
  ];
  const versions = ['0.8.0', '0.9.0', '1.1.0', '1.1.1', '1.2.0'];
  expect(await ways(versions, entries, { gone: ['p.v1.2.0'] })).toEqual([
    ['p.v1.1.0: ; p.v0.8.0; <0.3.0'],
    ['p.v1.1.0: ; p.v0.8.0 p.v0.9.0; <0.3.0'],
    ['p.v1.1.0: ; p.v0.8.0 p.v0.9.0; <0.3.0 || >=0.5.0 <1.2.0 <1.1.0 || =0.1.0 <1.1.0'],
  ]);
});

test('a removed head without fields leaves the head below as it is', async () => {
  const entries = [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0' }, { name: 'p.v1.0.0' }];
  expect(await ways(['1.0.0', '1.1.0'], entries, { gone: ['p.v1.1.0'] })).toEqual([['p.v1.0.0: ; ; ']]);
});

test('the bound of an inherited range has no build metadata, which ranges do not know', async () => {
  const entries = [
    { name: 'p.v1.2.0', replaces: 'p.v1.1.0+2', skipRange: '>=1.0.0' },
    { name: 'p.v1.1.0+2' },
  ];
  const all = await ways(['1.1.0+2', '1.2.0'], entries, { gone: ['p.v1.2.0'] });
  expect(all.at(-1)).toEqual(['p.v1.1.0+2: ; ; >=1.0.0 <1.1.0']);
});

test('an entry replaces what the removed ones replaced, and may inherit their skips and ranges', async () => {
  const entries = [
    { name: 'p.v1.3.0', replaces: 'p.v1.2.0', skips: ['p.v1.2.0'], skipRange: '=0.4.0' },
    { name: 'p.v1.2.0', replaces: 'p.v1.1.0', skips: ['p.v0.9.0', 'p.v1.3.0', 'p.v1.0.0'] },
    { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skipRange: '<0.4.0' },
    { name: 'p.v1.0.0' },
  ];
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const inBetween = { gone: ['p.v1.1.0', 'p.v1.2.0'] };
  expect(await ways(versions, entries, inBetween)).toEqual([
    ['p.v1.3.0: p.v1.2.0; p.v1.2.0; =0.4.0', 'p.v1.0.0: ; ; '],
    ['p.v1.3.0: p.v1.2.0; p.v1.2.0 p.v1.0.0; =0.4.0', 'p.v1.0.0: ; ; '],
    ['p.v1.3.0: p.v1.0.0; p.v1.2.0 p.v1.1.0; =0.4.0', 'p.v1.0.0: ; ; '],
    ['p.v1.3.0: p.v1.0.0; p.v1.2.0 p.v1.1.0 p.v0.9.0; =0.4.0', 'p.v1.0.0: ; ; '],
    ['p.v1.3.0: p.v1.0.0; p.v1.2.0 p.v1.1.0 p.v0.9.0; =0.4.0 || <0.4.0', 'p.v1.0.0: ; ; '],
  ]);
});

test('of several heads, the highest skips the others', async () => {
  const entries = [{ name: 'p.v1.1.0' }, { name: 'p.v1.2.0' }, { name: 'p.v1.0.0' }, { name: 'p.v1.3.0' }];
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  expect(await ways(versions, entries, { gone: ['p.v1.3.0'] })).toEqual([
    ['p.v1.1.0: ; ; ', 'p.v1.2.0: ; ; ', 'p.v1.0.0: ; ; '],
    ['p.v1.1.0: ; ; ', 'p.v1.2.0: ; p.v1.1.0 p.v1.0.0; ', 'p.v1.0.0: ; ; '],
  ]);
});

test('removed versions that stay keep their place, without edges', async () => {
  const entries = [
    { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
    { name: 'p.v1.1.0', replaces: 'p.v1.0.0', skips: ['p.v0.9.0'], skipRange: '<1.1.0' },
    { name: 'p.v1.0.0' },
  ];
  const [first] = await ways(['1.0.0', '1.1.0', '1.2.0'], entries, { gone: ['p.v1.1.0'], kept: true });
  expect(first).toEqual(['p.v1.2.0: p.v1.0.0; p.v1.1.0; ', 'p.v1.1.0: ; ; ', 'p.v1.0.0: ; ; ']);
});

test('a channel of nothing else is left empty, or cannot be written if they stay', async () => {
  const only = [{ name: 'p.v1.0.0' }];
  expect(await ways(['1.0.0'], only, { gone: ['p.v1.0.0'] })).toEqual([[]]);
  expect(await ways(['1.0.0'], only, { gone: ['p.v1.0.0'], kept: true })).toEqual([]);
});

test('an entry gets edges from what it does not follow yet, and never skips itself', async () => {
  const entries = [{ name: 'p.v1.2.0', replaces: 'p.v1.1.0', skips: ['p.v1.0.0'] }, { name: 'p.v1.1.0' }];
  const channel = (await packageOf(['1.1.0', '1.2.0'], entries)).channels.get('a') as Channel;
  const installed = ['1.0.0', '1.1.0', '1.2.0', '0.9.0+2'].map((version) => ({
    name: `p.v${version}`,
    version: parseVersion(version),
  }));
  const unknown = { name: 'p.other', version: undefined };
  expect(shown(withMoreSkips(channel.entries, 'p.v1.2.0', [...installed, unknown]))).toEqual([
    'p.v1.2.0: p.v1.1.0; p.v1.0.0 p.v0.9.0+2 p.other; ',
    'p.v1.1.0: ; ; ',
  ]);
  expect(shown(withMoreRanges(channel.entries, 'p.v1.2.0', [...installed, unknown]))).toEqual([
    'p.v1.2.0: p.v1.1.0; p.v1.0.0; =1.2.0 || =0.9.0',
    'p.v1.1.0: ; ; ',
  ]);
});
