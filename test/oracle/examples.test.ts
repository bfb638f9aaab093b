/** Merges that a law once found: what harms somebody who selects one channel, or none, and what harms nobody. */
import { expect, test } from 'vitest';
import type { Finding } from '../../catalog/finding.ts';
import { graphErrors } from './graph-errors.ts';
import type { Entry, Package, State } from './repository-state.ts';

const errorsAfter = graphErrors();

function of(channels: Readonly<Record<string, readonly Entry[]>>, more: Partial<Package> = {}): Package {
  return { defaultChannel: 'stable', channels, rebuilt: [], deprecated: [], requires: {}, ...more };
}

/** A chain of versions, each replacing the one before. */
function chain(...versions: readonly string[]): Entry[] {
  return versions.map((version, i) => {
    const { [i - 1]: replaces } = versions;
    return { version, ...(replaces === undefined ? {} : { replaces }) };
  });
}

async function errorsOf(before: State, after: State): Promise<string[]> {
  return [...new Set((await findingsOf(before, after)).map(({ rule }) => rule))].sort();
}

function findingsOf(before: State, after: State): Promise<readonly Finding[]> {
  return errorsAfter([before, after]);
}

const FAST = chain('1.0.0', '1.1.0', '1.2.0');
const RELEASED = { 'v4.19': { pa: of({ fast: FAST, stable: chain('1.0.0') }) } };

test('an extension of one channel loses its upgrade by a deprecation', async () => {
  const stable = chain('1.0.0', '1.3.0');
  const after = { pa: of({ fast: FAST, stable }, { deprecated: ['1.1.0'] }) };
  expect(await errorsOf(RELEASED, { 'v4.19': after })).toEqual(['graph/upgrade-lost-v1']);
  expect(await errorsOf(RELEASED, { 'v4.19': { pa: of({ fast: FAST, stable }) } })).toEqual([]);
});

test('an extension of one channel gets a bundle that OLM v1 refuses', async () => {
  const pb = of({ stable: chain('1.0.0') });
  const before = { 'v4.20': { pb, pa: of({ stable: chain('1.0.0'), candidate: chain('1.0.0') }) } };
  const channels = { stable: chain('1.0.0', '1.2.0'), candidate: chain('1.0.0', '1.3.0') };
  const requiring = of(channels, { requires: { '1.2.0': '>=1.0.0' } });
  expect(await errorsOf(before, { 'v4.20': { pb, pa: requiring } })).toEqual(['graph/newly-unsupported-v1']);
  expect(await errorsOf(before, { 'v4.20': { pb, pa: of(channels) } })).toEqual([]);
});

test('who selects no channel has nothing in the next catalog, where one that lacks a channel hides it', async () => {
  const next = of({ stable: chain('1.0.0', '1.2.0') });
  const before = { 'v4.19': { pa: of({ stable: FAST, candidate: FAST }) }, 'v4.20': { pa: next } };
  const candidate = [...FAST, { version: '1.3.0', replaces: '1.2.0' }];
  const after = { 'v4.19': { pa: of({ stable: FAST, candidate }) }, 'v4.20': { pa: next } };
  expect(await errorsOf(before, after)).toEqual(['graph/strands-on-platform-upgrade']);
  const withNext = {
    ...after,
    'v4.20': {
      pa: of({ stable: [...(next.channels['stable'] ?? []), { version: '1.3.0', replaces: '1.2.0' }] }),
    },
  };
  expect(await errorsOf(before, withNext)).toEqual([]);
});

test('who selects no channel loses under OLM v0 the upgrade that another channel gave', async () => {
  const stable: Entry[] = [
    { version: '1.0.0' },
    { version: '1.1.0', skips: ['1.0.0'] },
    { version: '1.3.0', replaces: '1.1.0' },
  ];
  const older: Entry[] = [
    { version: '1.0.0' },
    { version: '1.2.0', skips: ['1.0.0'] },
    { version: '1.4.0', replaces: '1.2.0' },
  ];
  const latest: Entry = { version: '1.5.0', replaces: '1.4.0', skipRange: '>=1.0.0 <1.5.0' };
  const newest: Entry = { version: '1.6.0', replaces: '1.4.0', skips: ['1.5.0'] };
  const before = { 'v4.20': { pa: of({ stable, fast: [...older, latest] }) } };
  const lost = { 'v4.20': { pa: of({ stable, fast: [...older, latest, newest] }) } };
  expect(await errorsOf(before, lost)).toContain('graph/strands-installed-v0');
  const kept = { ...newest, skipRange: '>=1.0.0 <1.6.0' };
  expect(await errorsOf(before, { 'v4.20': { pa: of({ stable, fast: [...older, latest, kept] }) } })).toEqual(
    [],
  );
});

test('what OLM v1 refused for a requirement, and now for a deprecation, is not told again', async () => {
  const pb = of({ stable: chain('1.0.0') });
  const requires = { '1.1.0': '>=1.0.0' };
  const before = { 'v4.19': { pb, pa: of({ stable: FAST }, { requires }) } };
  const after = { 'v4.19': { pb, pa: of({ stable: FAST }, { requires, deprecated: ['1.1.0'] }) } };
  expect(await errorsOf(before, after)).toEqual([]);
  const supported = { 'v4.19': { pb, pa: of({ stable: FAST }) } };
  const harmed = { 'v4.19': { pb, pa: of({ stable: FAST }, { deprecated: ['1.1.0'] }) } };
  expect(await errorsOf(supported, harmed)).toContain('graph/stuck-v1');
});

test('the repair of one catalog does not make what the even version after it lacks new', async () => {
  const had = { pa: of({ stable: chain('1.0.0', '1.2.0') }) };
  const lacks = { pa: of({ stable: chain('1.0.0') }) };
  const before = { 'v4.14': had, 'v4.15': lacks, 'v4.16': lacks };
  const catalogsOf = async (from: State, to: State): Promise<unknown> =>
    (await findingsOf(from, to)).map(({ catalogs }) => catalogs);
  // Clusters of v4.15 get what v4.16 lacks; those of v4.14 had that before.
  expect(await catalogsOf(before, { ...before, 'v4.15': had })).toEqual([['v4.15']]);
  const sound = { 'v4.14': had, 'v4.15': had, 'v4.16': had };
  expect(await errorsOf(sound, { ...sound, 'v4.16': lacks })).not.toEqual([]);
});
