/** Merges that a law once found, with what they do to clusters that come from other versions of the platform. */
import { expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { POLICY } from '../fakes/gate.ts';
import { FIRST_CRD } from './custom-resources.ts';
import { graphFindings } from './graph-errors.ts';
import { worseOff } from './oracle.ts';
import type { Entry, Package, State } from './repository-state.ts';
import { chain, packageOf as of } from './states.ts';

const findingsAfter = graphFindings();

/** Rules with findings that are no notes, by severity. */
async function told(...states: readonly State[]): Promise<string[]> {
  const findings = await findingsAfter(states);
  const asked = findings.filter(({ severity }) => severity !== 'info');
  return [...new Set(asked.map(({ severity, rule }) => `${severity} ${rule}`))].sort();
}

/** Classes of harm that the oracle sees. */
function harmsOf(...states: readonly State[]): string[] {
  const harms = worseOff(states.slice(0, -1), states.at(-1) ?? {}).map(({ harm }) => harm);
  return [...new Set(harms)].sort();
}

const LOWERED = 'error graph/downgrade-on-platform-upgrade';

test('a new catalog repeats a circle, and leads to a version below it', async () => {
  const fast = chain('1.0.0', '1.1.0', '1.2.0');
  // Without a channel: from 1.2.0 to 1.1.0, and on to 1.2.0.
  const circle: State[string] = { pa: of({ fast, stable: [{ version: '1.1.0', skips: ['1.2.0'] }] }) };
  const before: State = { 'v4.20': circle };
  const copied: State = { ...before, 'v4.21': circle };
  expect(harmsOf(before, copied)).toEqual([]);
  expect(await told(before, copied)).toEqual([]);
  const candidate = [{ version: '1.0.0', skips: ['1.1.0'] }];
  const lower: State = { ...before, 'v4.21': { pa: of({ candidate, fast, stable: chain('1.1.0') }) } };
  expect(harmsOf(before, lower)).toContain('downgrade');
  expect(await told(before, lower)).toContain(LOWERED);
});

test('a new catalog does not continue what becomes the default channel with it', async () => {
  const channels = { fast: chain('1.0.0', '1.1.0'), stable: chain('1.0.0') };
  const merge = (defaultChannel: string, fast: readonly Entry[]): [State, State] => {
    const after = of(channels, { defaultChannel });
    const next = of({ ...channels, fast }, { defaultChannel });
    return [{ 'v4.20': { pa: of(channels) } }, { 'v4.20': { pa: after }, 'v4.21': { pa: next } }];
  };
  const [older, same] = [chain('1.0.0'), chain('1.0.0', '1.1.0')];
  expect(harmsOf(...merge('fast', older))).toContain('not brought');
  expect(await told(...merge('fast', older))).toContain('error graph/strands-on-platform-upgrade');
  // Channels may end with a version of the platform.
  expect(await told(...merge('stable', older))).toEqual(['warning graph/strands-on-platform-upgrade']);
  expect(await told(...merge('fast', same))).toEqual([]);
});

test('59: a version that only the next catalog still has gets an upgrade that changes its CRD', async () => {
  const required = { ...FIRST_CRD, required: ['size'] };
  const merge = (crd: typeof FIRST_CRD): Promise<string[]> => {
    const crds = { '1.0.0': FIRST_CRD, '1.1.0': crd, '1.2.0': crd };
    const next = { pa: of({ stable: chain('1.0.0', '1.1.0', '1.2.0') }, { crds }) };
    const pruned = (skipRange: Partial<Entry>): State => ({
      'v4.19': {
        pa: of(
          { stable: [{ version: '1.1.0' }, { version: '1.2.0', replaces: '1.1.0', ...skipRange }] },
          { crds },
        ),
      },
      'v4.20': next,
    });
    const past = { 'v4.19': { pa: of({ stable: chain('1.0.0', '1.1.0') }, { crds }) }, 'v4.20': next };
    return told(past, pruned({}), pruned({ skipRange: '>=1.0.0 <1.2.0' }));
  };
  expect(await merge(required)).toContain('warning graph/crd-unsafe-edge');
  expect(await merge(FIRST_CRD)).toEqual([]);
});

test('a renamed catalog drops a CRD', async () => {
  const crds = { '1.0.0': FIRST_CRD };
  const before: State = { 'v4.19': { pa: of({ stable: chain('1.0.0') }, { crds }) } };
  const after = (kept: Package['crds']): State => ({
    'v4.20': { pa: of({ stable: chain('1.0.0', '1.1.0') }, { crds: { ...crds, ...kept } }) },
  });
  expect(harmsOf(before, after({}))).toEqual(['CRD without an owner', 'catalog renamed', 'objects deleted']);
  expect(await told(before, after({}))).toEqual(['error graph/crd-dropped', 'warning graph/package-removed']);
  expect(await told(before, after({ '1.1.0': FIRST_CRD }))).toEqual(['warning graph/package-removed']);
});

test('59: a new catalog lacks a package of the version from which clusters pass one', async () => {
  const lacks = 'warning graph/new-catalog-lacks-packages';
  const [pa, pb] = [of({ stable: chain('1.0.0') }), of({ stable: chain('1.0.0') })];
  const leaving = { ...pb, deprecatedChannels: ['*'] };
  const merge = (first: number, oldest: Package): [State, State] => {
    const before: State = { [`v4.${first}`]: { pa, pb: oldest }, [`v4.${first + 1}`]: { pa, pb: leaving } };
    return [before, { ...before, [`v4.${first + 2}`]: { pa } }];
  };
  expect(harmsOf(...merge(18, pb))).toContain('not in the new catalog');
  expect(await told(...merge(18, pb))).toContain(lacks);
  expect(await told(...merge(18, leaving))).not.toContain(lacks);
  // From an odd version, clusters go to the next one first.
  expect(await told(...merge(19, pb))).not.toContain(lacks);
});

test('what a policy allows in one channel it does not allow in others that lose the same', async () => {
  const policy = `${POLICY}rules: {graph/strands-on-platform-upgrade: {allowChannels: [candidate]}}\n`;
  const entries = chain('1.0.0', '1.1.0');
  const channelsOf = (...names: readonly string[]): Package =>
    of(Object.fromEntries(names.map((name) => [name, entries])), { defaultChannel: names[0] ?? '' });
  const merge = async (...names: readonly string[]): Promise<string[]> => {
    const before = { 'v4.19': { pa: channelsOf(...names) }, 'v4.20': { pa: channelsOf(...names) } };
    const after = { ...before, 'v4.20': { pa: channelsOf('other') } };
    const found = await findingsAfter([before, after], { [POLICY_PATH]: policy });
    return found.flatMap(({ rule, severity }) =>
      rule === 'graph/strands-on-platform-upgrade' ? severity : [],
    );
  };
  expect(await merge('candidate')).toEqual(['info']);
  expect(await merge('candidate', 'stable')).toEqual(['error']);
});

test('what a policy allows in one channel it does not allow in others with the same upgrade', async () => {
  const policy = `${POLICY}rules: {graph/crd-dropped: {allowChannels: [candidate]}}\n`;
  const crds = { '1.0.0': FIRST_CRD };
  const merge = async (...names: readonly string[]): Promise<string[]> => {
    const [before, after] = [chain('1.0.0'), chain('1.0.0', '1.1.0')].map((entries) => ({
      'v4.19': {
        pa: of(Object.fromEntries(names.map((name) => [name, entries])), {
          defaultChannel: names[0] ?? '',
          crds,
        }),
      },
    }));
    const found = await findingsAfter([before ?? {}, after ?? {}], { [POLICY_PATH]: policy });
    return found.flatMap(({ rule, severity }) => (rule === 'graph/crd-dropped' ? severity : []));
  };
  expect(await merge('candidate')).toEqual(['info']);
  expect(await merge('candidate', 'stable')).toEqual(['error']);
});

test('a catalog no longer continues versions that clusters may bring before they have upgraded them', async () => {
  const older = of({ stable: chain('1.0.0', '1.1.0', '1.2.0') });
  const newest = (skipRange?: string): Package =>
    of({ stable: [{ version: '1.2.0', ...(skipRange === undefined ? {} : { skipRange }) }] });
  const merge = (after: Package): [State, State] => [
    { 'v4.19': { pa: older }, 'v4.20': { pa: newest('>=1.0.0 <1.2.0') } },
    { 'v4.19': { pa: older }, 'v4.20': { pa: after } },
  ];
  expect(await told(...merge(newest()))).toEqual(['warning graph/strands-on-platform-upgrade']);
  expect(await told(...merge(newest('>=0.9.0 <1.2.0')))).toEqual([]);
});

test('a new version is refused its first upgrade: nobody has it yet', async () => {
  const more = { ...FIRST_CRD, fields: [...FIRST_CRD.fields, 'more'] };
  const fast = [{ version: '1.0.0' }, { version: '1.2.0', replaces: '1.0.0', skipRange: '>=1.0.0 <1.2.0' }];
  const crds = { '1.0.0': FIRST_CRD, '1.2.0': FIRST_CRD };
  const before: State = { 'v4.19': { pa: of({ fast, stable: chain('1.0.0') }, { crds }) } };
  const stable = chain('1.0.0', '1.1.0');
  const merge = (crd: typeof FIRST_CRD): [State, State] => [
    before,
    { 'v4.19': { pa: of({ fast, stable }, { crds: { ...crds, '1.1.0': crd } }) } },
  ];
  expect(harmsOf(...merge(more))).toEqual(['objects at risk']);
  expect(await told(...merge(more))).toContain('warning graph/crd-unsafe-edge');
  expect(harmsOf(...merge(FIRST_CRD))).toEqual([]);
});
