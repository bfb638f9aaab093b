/**
 * What rules look at beyond the files that a merge touches. Of each part there is a merge that only this part shows to be
 * harmful, and a twin; `test/mutations` takes the parts away.
 */
import { expect, test } from 'vitest';
import type { Finding } from '../../catalog/finding.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { operator, POLICY } from '../fakes/gate.ts';
import { type Crd, FIRST_CRD } from './custom-resources.ts';
import { graphFindings } from './graph-errors.ts';
import type { Entry, Package, State } from './repository-state.ts';
import { chain, packageOf } from './states.ts';

const findingsOf = graphFindings();

async function rulesOf(...states: readonly State[]): Promise<string[]> {
  return told(await findingsOf(states));
}

function told(findings: readonly Finding[]): string[] {
  const counted = findings.filter(({ severity }) => severity !== 'info');
  return [...new Set(counted.map(({ severity, rule }) => `${severity} ${rule}`))];
}

const of = (...versions: readonly string[]): Package => packageOf({ stable: chain(...versions) });
const STRANDS = 'error graph/strands-on-platform-upgrade';

test('59: the catalog of the next platform version, which a merge does not touch', async () => {
  const next = (pa: Package): State => ({ 'v4.20': { pa } });
  const merge = (pa: Package): Promise<string[]> =>
    rulesOf(
      { 'v4.19': { pa: of('1.0.0') }, ...next(pa) },
      { 'v4.19': { pa: of('1.0.0', '1.1.0') }, ...next(pa) },
    );
  expect(await merge(of('1.0.0'))).toContain(STRANDS);
  expect(await merge(of('1.0.0', '1.1.0'))).not.toContain(STRANDS);
});

test('59: clusters of an untouched catalog, whose upgrade path leads through a touched one', async () => {
  const newest: Entry = { version: '1.2.0', replaces: '1.0.0' };
  const withPath: Entry = { ...newest, skipRange: '>=1.0.0 <1.2.0' };
  const state = (head: Entry, ...untouched: readonly string[]): State => ({
    'v4.19': { pa: of(...untouched) },
    'v4.20': { pa: packageOf({ stable: [...chain('1.0.0'), head] }) },
  });
  const merge = (...versions: readonly string[]): Promise<string[]> =>
    rulesOf(state(withPath, ...versions), state(newest, ...versions));
  expect(await merge('1.0.0', '1.1.0')).toContain(STRANDS);
  expect(await merge('1.0.0')).not.toContain(STRANDS);
});

test('59: what clusters bring from the catalog of the previous platform version', async () => {
  const required: Crd = { ...FIRST_CRD, required: ['size'] };
  const head: Entry = { version: '1.2.0', replaces: '1.0.0', skipRange: '>=1.0.0 <1.2.0' };
  const own = (stable: readonly Entry[]): Package =>
    packageOf({ stable }, { crds: { '1.0.0': required, '1.2.0': required } });
  const merge = (brought: Crd): Promise<string[]> => {
    const pa = packageOf(
      { stable: chain('1.0.0', '1.1.0') },
      { crds: { '1.0.0': required, '1.1.0': brought } },
    );
    return rulesOf(
      { 'v4.19': { pa }, 'v4.20': { pa: own(chain('1.0.0')) } },
      { 'v4.19': { pa }, 'v4.20': { pa: own([...chain('1.0.0'), head]) } },
    );
  };
  // OLM v1 had an error before, and OLM v0 makes the upgrade: a warning.
  expect(await merge(FIRST_CRD)).toContain('warning graph/crd-unsafe-edge');
  expect(await merge(required)).not.toContain('warning graph/crd-unsafe-edge');
});

test('59: the even platform version after the next one', async () => {
  const state = (own: readonly string[], last: readonly string[]): State => ({
    'v4.18': { pa: of(...own) },
    'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0') },
    'v4.20': { pa: of(...last) },
  });
  const merge = (...last: readonly string[]): Promise<string[]> =>
    rulesOf(state(['1.0.0'], last), state(['1.0.0', '1.1.0'], last));
  expect(await merge('1.0.0', '1.2.0')).toContain(STRANDS);
  expect(await merge('1.0.0', '1.1.0', '1.2.0')).not.toContain(STRANDS);
});

test('59: versions that the branch once had', async () => {
  const stranded = 'error graph/strands-installed-v0';
  const pruned: Entry = { version: '1.1.0', replaces: '1.0.0' };
  const { replaces: _, ...bare } = pruned;
  const state = (first: Entry): State => ({
    'v4.19': { pa: packageOf({ stable: [first, { version: '1.2.0', replaces: '1.1.0' }] }) },
  });
  const past: State = { 'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0') } };
  expect(await rulesOf(past, state(pruned), state(bare))).toContain(stranded);
  expect(await rulesOf(state(pruned), state(bare))).not.toContain(stranded);
});

test('59: CRDs of versions that the branch once had', async () => {
  const both: Crd = { ...FIRST_CRD, versions: ['v1alpha1', 'v1'], stored: 'v1' };
  const last: Crd = { ...both, versions: ['v1'] };
  const crds = { '1.1.0': both, '1.2.0': last };
  const pruned: Entry[] = [{ version: '1.1.0', replaces: '1.0.0' }];
  const merge = (first: Crd): Promise<string[]> =>
    rulesOf(
      {
        'v4.19': {
          pa: packageOf({ stable: chain('1.0.0', '1.1.0') }, { crds: { ...crds, '1.0.0': first } }),
        },
      },
      { 'v4.19': { pa: packageOf({ stable: pruned }, { crds }) } },
      { 'v4.19': { pa: packageOf({ stable: [...pruned, ...chain('1.1.0', '1.2.0').slice(1)] }, { crds }) } },
    );
  expect(await merge(FIRST_CRD)).toContain('error graph/crd-unsafe-edge');
  expect(await merge(both)).not.toContain('error graph/crd-unsafe-edge');
});

test('59: an untouched package that requires another', async () => {
  const requiring = (range: string): Package =>
    packageOf({ stable: chain('1.0.0', '1.1.0') }, { requires: { '1.1.0': range } });
  const merge = (range: string): Promise<string[]> =>
    rulesOf(
      { 'v4.19': { pa: requiring(range), pb: of('1.0.0', '1.1.0') } },
      {
        'v4.19': {
          pa: requiring(range),
          pb: packageOf({ stable: [{ version: '1.1.0', skips: ['1.0.0'] }] }),
        },
      },
    );
  expect(await merge('<1.1.0')).toContain('error graph/strands-dependents');
  expect(await merge('>=1.1.0')).not.toContain('error graph/strands-dependents');
});

test('59: neighbors in a namespace that an untouched package requires', async () => {
  const limiting = (range: string): Package =>
    packageOf({ stable: chain('1.0.0') }, { requires: { '1.0.0': range } });
  const merge = (range: string): Promise<string[]> =>
    rulesOf(
      { 'v4.19': { pa: limiting(range), pb: of('1.0.0') } },
      { 'v4.19': { pa: limiting(range), pb: of('1.0.0', '1.1.0') } },
    );
  expect(await merge('<1.1.0')).toContain('warning graph/blocked-by-neighbor');
  expect(await merge('<1.2.0')).not.toContain('warning graph/blocked-by-neighbor');
});

test('59: what an untouched catalog has under the name of a bundle', async () => {
  const two = of('1.0.0', '1.1.0');
  const state = (pa: Package): State => ({ 'v4.18': { pa: two }, 'v4.20': { pa } });
  const merge = (rebuilt: readonly string[]): Promise<string[]> =>
    rulesOf(state(of('1.0.0')), state({ ...two, rebuilt }));
  expect(await merge(['1.1.0'])).toContain('error graph/bundle-mutated');
  expect(await merge([])).not.toContain('error graph/bundle-mutated');
});

test('59: the packages of the catalog before a new one', async () => {
  const lacks = 'warning graph/new-catalog-lacks-packages';
  const [pa, pb] = [of('1.0.0'), of('1.0.0')];
  const old: State = { 'v4.19': { pa, pb } };
  expect(await rulesOf(old, { ...old, 'v4.20': { pa } })).toContain(lacks);
  expect(await rulesOf(old, { ...old, 'v4.20': { pa, pb } })).not.toContain(lacks);
});

test('59: what was wrong in the catalog before a new one', async () => {
  const stuck = packageOf({ stable: chain('1.0.0', '1.1.0', '1.2.0') }, { deprecated: ['1.1.0'] });
  const old: State = { 'v4.19': { pa: stuck } };
  expect(await rulesOf(old, { ...old, 'v4.20': { pa: stuck } })).not.toContain('error graph/stuck-v1');
  const sound: State = { 'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0') } };
  expect(await rulesOf(sound, { ...sound, 'v4.20': { pa: stuck } })).toContain('error graph/stuck-v1');
});

test('59: versions without an upgrade path in the catalog before a new one', async () => {
  // 1.1.0 leads to 1.2.0 alone, which OLM v0 leaves out.
  const stuck = packageOf({
    stable: [
      ...chain('1.0.0', '1.1.0'),
      { version: '1.2.0', replaces: '1.0.0', skips: ['1.1.0'] },
      { version: '1.3.0', replaces: '1.0.0', skips: ['1.2.0'] },
    ],
  });
  const old: State = { 'v4.19': { pa: stuck } };
  expect(await rulesOf(old, { ...old, 'v4.20': { pa: stuck } })).not.toContain('error graph/stranded-v0');
  const sound: State = { 'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0', '1.3.0') } };
  expect(await rulesOf(sound, { ...sound, 'v4.20': { pa: stuck } })).toContain('error graph/stranded-v0');
});

test('59: the other catalogs of the clusters', async () => {
  const unmet = 'error graph/unsatisfied-dependency';
  const requiring = packageOf({ stable: chain('1.0.0', '1.1.0') }, { requires: { '1.1.0': '>=1.1.0' } });
  const merge = async (...versions: readonly string[]): Promise<string[]> => {
    const policy = `${POLICY}graph: {companions: ['beside/{catalog}']}\n`;
    const beside = { [POLICY_PATH]: policy, 'beside/v4.19/pb/catalog.yaml': operator('pb', versions) };
    return told(await findingsOf([{ 'v4.19': { pa: of('1.0.0') } }, { 'v4.19': { pa: requiring } }], beside));
  };
  expect(await merge('1.0.0')).toContain(unmet);
  expect(await merge('1.0.0', '1.1.0')).not.toContain(unmet);
});

test('59: a folder of another name in an untouched catalog', async () => {
  const newest: Entry = { version: '1.2.0', replaces: '1.0.0' };
  const state = (head: Entry, ...untouched: readonly string[]): State => ({
    'v4.19': { pa: { ...of(...untouched), folder: 'pa-operator' } },
    'v4.20': { pa: packageOf({ stable: [...chain('1.0.0'), head] }) },
  });
  const merge = (...versions: readonly string[]): Promise<string[]> =>
    rulesOf(state({ ...newest, skipRange: '>=1.0.0 <1.2.0' }, ...versions), state(newest, ...versions));
  expect(await merge('1.0.0', '1.1.0')).toContain(STRANDS);
  expect(await merge('1.0.0')).not.toContain(STRANDS);
});

test('59: the folder that a package was moved from', async () => {
  const stranded = 'error graph/strands-installed-v0';
  const state = (first: Entry): State => ({
    'v4.19': {
      pa: {
        ...packageOf({ stable: [first, { version: '1.2.0', replaces: '1.1.0' }] }),
        folder: 'pa-operator',
      },
    },
  });
  const pruned = state({ version: '1.1.0', replaces: '1.0.0' });
  const past: State = { 'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0') } };
  expect(await rulesOf(past, pruned, state({ version: '1.1.0' }))).toContain(stranded);
  expect(await rulesOf(past, pruned, state({ version: '1.1.0', skips: ['1.0.0'] }))).not.toContain(stranded);
});

test('59: what clusters brought before the merge, and is no entry here', async () => {
  const stranded = 'error graph/strands-installed-v0';
  const state = (head: Entry, ...last: readonly string[]): State => ({
    'v4.19': { pa: of('1.0.0', '1.1.0', ...last) },
    'v4.20': { pa: packageOf({ stable: [...chain('1.0.0'), head] }) },
  });
  const head: Entry = { version: '1.2.0', replaces: '1.0.0' };
  const merge = (after: Entry): Promise<string[]> =>
    rulesOf(state({ ...head, skipRange: '>=1.0.0 <1.2.0' }), state(after, '1.2.0'));
  expect(await merge(head)).toContain(stranded);
  expect(await merge({ ...head, skips: ['1.1.0'] })).not.toContain(stranded);
});

test('59: what was the head of the catalog that clusters come from', async () => {
  const stranded = 'error graph/strands-installed-v0';
  const state = (...entries: readonly Entry[]): State => ({
    'v4.19': { pa: of('1.0.0', '1.1.0', '1.2.0') },
    'v4.20': { pa: packageOf({ stable: [...chain('1.0.0'), ...entries] }) },
  });
  const past: State = { 'v4.19': { pa: of('1.0.0', '1.1.0') }, 'v4.20': { pa: of('1.0.0') } };
  const head: Entry = { version: '1.2.0', replaces: '1.0.0' };
  const merge = (after: Entry): Promise<string[]> =>
    rulesOf(past, past, state({ ...head, skipRange: '>=1.0.0 <1.2.0' }), state(after));
  expect(await merge(head)).toContain(stranded);
  expect(await merge({ ...head, skips: ['1.1.0'] })).not.toContain(stranded);
});

test('59: subscriptions that name no channel', async () => {
  const lowered = 'error graph/automatic-downgrade';
  const channels = { stable: chain('1.0.0', '1.1.0', '1.2.0') };
  const merge = (skips: readonly string[]): Promise<string[]> => {
    const candidate = [{ version: '1.0.0' }, { version: '1.1.0', replaces: '1.0.0', skips }];
    // OLM v1 takes the highest version, and has the same as before.
    return rulesOf(
      { 'v4.19': { pa: packageOf(channels) } },
      { 'v4.19': { pa: packageOf({ ...channels, candidate }) } },
    );
  };
  expect(await merge(['1.2.0'])).toContain(lowered);
  expect(await merge([])).not.toContain(lowered);
});
