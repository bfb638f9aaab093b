/** Merges that a law once found: what harms somebody who selects one channel, or none, and what harms nobody. */
import { expect, test } from 'vitest';
import type { Finding } from '../../catalog/finding.ts';
import { type Crd, FIRST_CRD } from './custom-resources.ts';
import { graphErrors } from './graph-errors.ts';
import type { Entry, Package, State } from './repository-state.ts';
import { chain, packageOf as of } from './states.ts';

const errorsAfter = graphErrors();

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

test('who selects no channel ends at another head, which the next catalog lacks', async () => {
  const candidate = chain('1.0.0', '1.1.0', '1.3.0');
  const states = (stable: readonly Entry[], next: readonly Entry[]): State => ({
    'v4.20': { pa: of({ stable, candidate }) },
    'v4.21': { pa: of({ stable: next, candidate: chain('1.0.0', '1.3.0') }) },
  });
  const [older, newer] = [chain('1.0.0', '1.1.0'), chain('1.0.0', '1.1.0', '1.5.0')];
  // Who selects stable was lost in v4.21 before.
  expect(await errorsOf(states(older, chain('1.0.0')), states(newer, chain('1.0.0')))).toEqual([
    'graph/strands-on-platform-upgrade',
  ]);
  const next = chain('1.0.0', '1.5.0');
  expect(await errorsOf(states(older, next), states(newer, next))).toEqual([]);
});

test('a head that nobody gets to without a channel takes nothing from those who select none', async () => {
  const next = { pa: of({ stable: chain('1.0.0') }) };
  const stable = chain('1.0.0', '1.1.0');
  const before = { 'v4.19': { pa: of({ stable, candidate: chain('1.0.0') }) }, 'v4.20': next };
  const after = { 'v4.19': { pa: of({ stable, candidate: chain('1.0.0', '1.2.0') }) }, 'v4.20': next };
  expect(await errorsOf(before, after)).toEqual([]);
  const had = { ...before, 'v4.20': { pa: of({ stable, candidate: chain('1.0.0') }) } };
  expect(await errorsOf(had, { ...had, 'v4.19': after['v4.19'] })).toEqual([
    'graph/strands-on-platform-upgrade',
  ]);
});

test('OLM v1 refuses a bundle after an upgrade that it makes', async () => {
  const pb = of({ stable: chain('1.0.0') });
  const before = { 'v4.19': { pb, pa: of({ stable: chain('1.0.0') }) } };
  const stable = chain('1.0.0', '1.1.0', '1.2.0');
  const refused = of({ stable }, { requires: { '1.2.0': '>=1.0.0' } });
  expect(await errorsOf(before, { 'v4.19': { pb, pa: refused } })).toEqual(['graph/newly-unsupported-v1']);
  expect(await errorsOf(before, { 'v4.19': { pb, pa: of({ stable }) } })).toEqual([]);
});

test('a catalog gets back what it had, while another has something else under the name', async () => {
  const stable = chain('1.0.0', '1.1.0');
  const [one, both] = [of({ stable: chain('1.0.0') }), of({ stable })];
  const rebuilt = of({ stable }, { rebuilt: ['1.1.0'] });
  const past = [
    { 'v4.19': { pa: both }, 'v4.20': { pa: both } },
    { 'v4.19': { pa: rebuilt }, 'v4.20': { pa: one } },
  ];
  expect(await errorsAfter([...past, { 'v4.19': { pa: rebuilt }, 'v4.20': { pa: both } }])).toEqual([]);
  expect(
    (await errorsAfter([...past, { 'v4.19': { pa: rebuilt }, 'v4.20': { pa: rebuilt } }])).map(
      ({ rule }) => rule,
    ),
  ).toEqual(['graph/bundle-mutated']);
});

test('a new catalog repeats what is wrong in the one before it, and adds to that', async () => {
  const required = { ...FIRST_CRD, required: ['size'] };
  const stable = chain('1.0.0', '1.1.0');
  const unsafe = of({ stable }, { crds: { '1.0.0': FIRST_CRD, '1.1.0': required } });
  const before = { 'v4.20': { pa: unsafe } };
  expect(await errorsOf(before, { ...before, 'v4.21': { pa: unsafe } })).toEqual([]);
  const sound = of({ stable }, { crds: { '1.0.0': FIRST_CRD, '1.1.0': FIRST_CRD } });
  const more = of(
    { stable: chain('1.0.0', '1.1.0', '1.2.0') },
    { crds: { '1.0.0': FIRST_CRD, '1.1.0': FIRST_CRD, '1.2.0': required } },
  );
  expect(
    await errorsOf({ 'v4.20': { pa: sound } }, { 'v4.20': { pa: sound }, 'v4.21': { pa: more } }),
  ).toEqual(['graph/crd-unsafe-edge']);
});

test('a new catalog repeats versions without an upgrade path, and adds one', async () => {
  // 1.0.0 is skipped by what is skipped itself: OLM v0 and v1 never leave it.
  const stuck: Entry[] = [
    { version: '1.0.0' },
    { version: '1.1.0' },
    { version: '1.2.0', skips: ['1.0.0', '1.1.0'] },
  ];
  const pa = of({ stable: chain('1.0.0', '1.1.0', '1.2.0') }, { deprecated: ['1.1.0'] });
  const before = { 'v4.20': { pa } };
  expect(await errorsOf(before, { ...before, 'v4.21': { pa } })).toEqual([]);
  const fine = { 'v4.20': { pa: of({ stable: stuck }) } };
  expect(await errorsOf(fine, { ...fine, 'v4.21': { pa } })).toContain('graph/stuck-v1');
});

test('an extension of one channel gets a CRD that others do not get', async () => {
  const crds = { '1.0.0': FIRST_CRD, '1.2.0': FIRST_CRD };
  const fast = chain('1.0.0', '1.2.0');
  const before = { 'v4.19': { pa: of({ stable: chain('1.0.0'), fast }, { crds }) } };
  const after = (crd: Partial<Package>): State => ({
    'v4.19': { pa: of({ stable: chain('1.0.0', '1.1.0'), fast }, crd) },
  });
  const unsafe = { crds: { ...crds, '1.1.0': { ...FIRST_CRD, required: ['size'] } } };
  expect(await errorsOf(before, after(unsafe))).toEqual(['graph/crd-unsafe-edge']);
  expect(await errorsOf(before, after({ crds }))).toEqual(['graph/crd-dropped']);
  expect(await errorsOf(before, after({ crds: { ...crds, '1.1.0': FIRST_CRD } }))).toEqual([]);
});

test('clusters go back from a release to its pre-release', async () => {
  const merge = (version: string): Promise<string[]> => {
    const older = { version, replaces: '1.0.0' };
    const before = of({ stable: [...chain('1.0.0'), older, { version: '1.1.0', replaces: version }] });
    const after = of({ stable: [...chain('1.0.0'), { ...older, skips: ['1.1.0'] }] });
    return errorsOf({ 'v4.19': { pa: before } }, { 'v4.19': { pa: after } });
  };
  expect(await merge('1.1.0-rc.0')).toContain('graph/automatic-downgrade');
  // Many operators call their rebuilds so.
  expect(await merge('1.1.0-1')).not.toContain('graph/automatic-downgrade');
});

test('another default channel ends at what was rebuilt', async () => {
  const channels = { fast: chain('1.0.0', '1.1.0'), stable: chain('1.0.0', '1.1.0+1') };
  const before = { 'v4.19': { pa: of(channels) } };
  const merge = (more: Record<string, Entry[]>): Promise<string[]> =>
    errorsOf(before, { 'v4.19': { pa: of({ ...channels, ...more }, { defaultChannel: 'fast' }) } });
  expect(await merge({})).toEqual(['graph/default-channel-changed']);
  const rebuilt = { version: '1.1.0+1', replaces: '1.1.0' };
  expect(await merge({ fast: [...channels.fast, rebuilt] })).toEqual([]);
});

test('who selects no channel gets from another one a CRD that OLM v1 refuses', async () => {
  const required = { ...FIRST_CRD, required: ['size'] };
  const crds = { '1.0.0': FIRST_CRD, '1.1.0': required, '1.2.0': FIRST_CRD };
  const stable = chain('1.0.0', '1.2.0');
  const fast = chain('1.0.0', '1.1.0');
  const before = { 'v4.19': { pa: of({ stable, fast }, { crds }) } };
  const newest = { version: '1.3.0', replaces: '1.0.0', skips: ['1.1.0'] };
  const merge = (crd: Crd): Promise<string[]> => {
    const after = of({ stable, fast: [...fast, newest] }, { crds: { ...crds, '1.3.0': crd } });
    return errorsOf(before, { 'v4.19': { pa: after } });
  };
  expect(await merge(required)).toEqual(['graph/crd-unsafe-edge']);
  expect(await merge(FIRST_CRD)).toEqual([]);
});

test('an upgrade that OLM v1 refuses takes the place of an error', async () => {
  const required = { ...FIRST_CRD, required: ['size'] };
  const crds = { '1.0.0': FIRST_CRD, '1.1.0': required, '1.2.0': required };
  const past = { 'v4.19': { pa: of({ stable: chain('1.0.0') }, { crds }) } };
  const before = { 'v4.19': { pa: of({ stable: chain('1.1.0') }, { crds }) } };
  const head = { version: '1.2.0', replaces: '1.1.0', skipRange: '>=1.0.0 <1.2.0' };
  const after = { 'v4.19': { pa: of({ stable: [...chain('1.1.0'), head] }, { crds }) } };
  expect(await errorsAfter([past, before, after])).toEqual([]);
  expect(await errorsOf(past, after)).toEqual(['graph/crd-unsafe-edge']);
});

test('a shorter way to the bundle that dropped a CRD drops nothing anew', async () => {
  const crds = { '1.0.0': FIRST_CRD };
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  const jump = (version: string): Entry => ({ version, replaces: '1.1.0', skipRange: `>=1.0.0 <${version}` });
  const after = { 'v4.19': { pa: of({ stable: [...chain('1.0.0', '1.1.0'), jump('1.2.0')] }, { crds }) } };
  const before = { 'v4.19': { pa: of({ stable: chain(...versions.slice(0, 2)) }, { crds }) } };
  expect(await errorsOf(before, after)).toEqual([]);
  const first = { 'v4.19': { pa: of({ stable: chain('1.0.0') }, { crds }) } };
  expect(await errorsOf(first, after)).toEqual(['graph/crd-dropped']);
});

test('a renamed catalog has a head that its clusters do not get to', async () => {
  const [pb, pa] = [of({ stable: chain('1.0.0') }), of({ stable: chain('1.0.0') })];
  const merge = (requires: Record<string, string>): Promise<string[]> =>
    errorsOf(
      { 'v4.19': { pa, pb } },
      { 'v4.20': { pa: of({ stable: chain('1.0.0', '1.1.0') }, { requires }), pb } },
    );
  expect(await merge({ '1.1.0': '>=1.0.0' })).toEqual(['graph/package-removed']);
  expect(await merge({})).toEqual([]);
});

test('a head requires a version that works with none of its own', async () => {
  const merge = (requires: Record<string, string>, range = '>=1.1.0'): Promise<string[]> => {
    const pa = of({ stable: chain('1.0.0', '1.1.0') }, { requires });
    const refused = { '1.1.0': '>=1.0.0', '1.2.0': range };
    const states = [chain('1.0.0', '1.1.0'), chain('1.0.0', '1.1.0', '1.2.0')].map((stable) => ({
      'v4.19': { pa, pb: of({ stable }, { requires: refused }) },
    }));
    return errorsOf(states[0] ?? {}, states[1] ?? {});
  };
  expect(await merge({ '1.1.0': '<1.2.0' })).toEqual(['graph/strands-installed-v0']);
  expect(await merge({ '1.1.0': '<1.3.0' })).toEqual([]);
  // The package is here: its versions are in no other catalog of the clusters.
  expect(await merge({}, '>=1.2.0')).toEqual(['graph/strands-installed-v0']);
});

test('a new channel copies an edge to a lower version', async () => {
  const stable = [
    { version: '1.0.0' },
    { version: '1.1.0', replaces: '1.0.0', skips: ['1.2.0'] },
    { version: '1.2.0' },
    { version: '1.3.0', replaces: '1.1.0' },
  ];
  const before = { 'v4.19': { pa: of({ stable }) } };
  expect(await errorsOf(before, { 'v4.19': { pa: of({ stable, candidate: stable }) } })).toEqual([]);
  const sound = { 'v4.19': { pa: of({ stable: chain('1.0.0', '1.1.0', '1.2.0', '1.3.0') }) } };
  const { stable: chained = [] } = sound['v4.19'].pa.channels;
  const after = { 'v4.19': { pa: of({ stable: chained, candidate: stable }) } };
  expect(await errorsOf(sound, after)).toContain('graph/downgrade-edge');
});

test('a way past the bundle whose CRD OLM v1 refuses deletes what stayed because of it', async () => {
  const merged = async (crd: Crd): Promise<string[]> => {
    const crds = { '1.0.0': FIRST_CRD, '1.1.0': crd };
    const stable = chain('1.0.0', '1.1.0', '1.2.0');
    const jump: Entry = { version: '1.3.0', replaces: '1.2.0', skipRange: '>=1.0.0 <1.3.0' };
    return errorsOf(
      { 'v4.19': { pa: of({ stable }, { crds }) } },
      { 'v4.19': { pa: of({ stable: [...stable, jump] }, { crds }) } },
    );
  };
  expect(await merged({ ...FIRST_CRD, required: ['size'] })).toEqual(['graph/crd-dropped']);
  expect(await merged(FIRST_CRD)).toEqual([]);
});

test('a version whose requirement nothing meets any more is skipped by a new one', async () => {
  const requires = { '1.1.0': '<1.2.0' };
  const merge = (last: Entry): Promise<string[]> =>
    errorsOf(
      {
        'v4.21': {
          pa: of({ stable: [{ version: '1.0.0' }, { version: '1.3.0', replaces: '1.0.0' }] }),
          pb: of({ stable: chain('1.0.0', '1.1.0') }, { requires }),
        },
      },
      {
        'v4.21': {
          pa: of({ stable: [{ version: '1.3.0', replaces: '1.0.0' }] }),
          pb: of({ stable: [...chain('1.0.0', '1.1.0'), last] }, { requires }),
        },
      },
    );
  expect(await merge({ version: '1.2.0', replaces: '1.1.0', skipRange: '>=1.0.0 <1.2.0' })).toEqual([]);
  expect(await merge({ version: '1.2.0', replaces: '1.1.0' })).toContain('graph/strands-dependents');
});

test('who never got to the head loses the upgrades before it', async () => {
  const chained = chain('1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0');
  const [, , ...rest] = chained;
  const pb = of({ stable: [{ version: '1.0.0' }, { version: '1.1.0', skips: ['1.0.0'] }] });
  // Nothing has a provider for 1.3.0.
  const merge = (first: Entry): Promise<string[]> => {
    const requires = { '1.3.0': '<1.1.0' };
    const before = { 'v4.19': { pb, pa: of({ stable: chained }, { requires }) } };
    return errorsOf(before, { 'v4.19': { pb, pa: of({ stable: [first, ...rest] }, { requires }) } });
  };
  expect(await merge({ version: '1.1.0' })).toContain('graph/strands-installed-v0');
  expect(await merge({ version: '1.1.0', replaces: '1.0.0' })).toEqual([]);
});
