/** Merges with which installations get to what only others got to before, or no longer get to it. */
import { expect, test } from 'vitest';
import { FIRST_CRD } from './custom-resources.ts';
import { graphFindings } from './graph-errors.ts';
import type { Entry, State } from './repository-state.ts';
import { chain, packageOf as of } from './states.ts';

const findingsAfter = graphFindings();

/** What a merge is told, by severity and rule, of those that are asked for. */
async function told(states: readonly State[], ...severities: readonly string[]): Promise<string[]> {
  const findings = await findingsAfter(states);
  const asked = findings.filter(({ severity }) => severities.includes(severity));
  return [...new Set(asked.map(({ severity, rule }) => `${severity} ${rule}`))].sort();
}

test('an edge of one channel leads to an upgrade of another channel, which drops a CRD', async () => {
  const crds = { '1.0.0': FIRST_CRD, '1.1.0': FIRST_CRD, '1.2.0': FIRST_CRD };
  const stable = chain('1.0.0', '1.2.0', '1.3.0');
  const merge = (its: typeof crds & { '1.3.0'?: typeof FIRST_CRD }): Promise<string[]> => {
    const before = of({ fast: chain('1.1.0'), stable }, { crds: its });
    const after = of({ fast: chain('1.1.0', '1.2.0'), stable }, { crds: its });
    return told([{ 'v4.19': { pa: before } }, { 'v4.19': { pa: after } }], 'error');
  };
  expect(await merge(crds)).toEqual(['error graph/crd-dropped']);
  expect(await merge({ ...crds, '1.3.0': FIRST_CRD })).toEqual([]);
});

test('another default channel leads those who select none to an unsafe upgrade of its own', async () => {
  const fast = chain('1.0.0', '1.1.0', '1.2.0', '1.4.0');
  const stable = chain('1.0.0', '1.3.0');
  const merge = (required: readonly string[]): Promise<string[]> => {
    const crd = { ...FIRST_CRD, required };
    const crds = { '1.0.0': FIRST_CRD, '1.1.0': FIRST_CRD, '1.2.0': crd, '1.3.0': FIRST_CRD, '1.4.0': crd };
    const states = ['stable', 'fast'].map((defaultChannel) => ({
      'v4.19': { pa: of({ fast, stable }, { crds, defaultChannel }) },
    }));
    return told(states, 'warning');
  };
  expect(await merge(['size'])).toContain('warning graph/crd-unsafe-edge');
  expect(await merge([])).not.toContain('warning graph/crd-unsafe-edge');
});

test('who selects no channel gets to the head of a new one, which the next catalog lacks', async () => {
  const [stable, next] = [chain('1.0.0', '1.1.0'), { pa: of({ stable: chain('1.0.0', '1.1.0', '1.2.0') }) }];
  const merge = (head: string): Promise<string[]> => {
    const candidate = [...stable, { version: head, replaces: '1.1.0' }];
    const before = { 'v4.19': { pa: of({ stable }) }, 'v4.20': next };
    return told([before, { ...before, 'v4.19': { pa: of({ stable, candidate }) } }], 'error');
  };
  expect(await merge('1.3.0')).toEqual(['error graph/strands-on-platform-upgrade']);
  expect(await merge('1.2.0')).toEqual([]);
});

test('a new catalog has a channel in which OLM v1 gets nowhere, where others get on', async () => {
  const fast = chain('1.0.0', '1.1.0', '1.2.0');
  const catalog = (deprecated: readonly string[]): State[string] => ({
    pa: of({ fast, stable: chain('1.0.0') }, { deprecated }),
  });
  const before = { 'v4.19': catalog([]) };
  expect(await told([before, { ...before, 'v4.20': catalog(['1.1.0']) }], 'error')).toEqual([
    'error graph/stuck-v1',
  ]);
  expect(await told([before, { ...before, 'v4.20': catalog([]) }], 'error')).toEqual([]);
  const known = { 'v4.19': catalog(['1.1.0']) };
  expect(await told([known, { ...known, 'v4.20': catalog(['1.1.0']) }], 'error')).toEqual([]);
});

test('a bundle comes back whose extensions got an error, and stay where they are', async () => {
  const head: Entry = { version: '1.1.0', skips: ['1.0.0'] };
  const back = [...chain('1.0.0'), head, { version: '1.2.0', replaces: '1.1.0' }];
  const merge = (...past: readonly (readonly Entry[])[]): Promise<string[]> =>
    told(
      [...past, back].map((stable) => ({ 'v4.19': { pa: of({ stable }, { deprecated: ['1.1.0'] }) } })),
      'error',
    );
  expect(await merge(chain('1.0.0', '1.1.0'), chain('1.1.0'))).toEqual([]);
  expect(await merge(chain('1.1.0'))).toEqual(['error graph/stuck-v1']);
});

test('another default channel that ends lower takes nothing: without a channel, upgrades come from all of them', async () => {
  const channels = { old: chain('1.0.0'), stable: chain('1.0.0', '1.1.0', '1.2.0') };
  const merge = (defaultChannel: string): Promise<string[]> =>
    told(
      ['stable', defaultChannel].map((one) => ({ 'v4.19': { pa: of(channels, { defaultChannel: one }) } })),
      'error',
    );
  expect(await merge('old')).toEqual([]);
});

test('another default channel keeps those in a circle who select none', async () => {
  const stable = chain('1.0.0', '1.1.0');
  const merge = (fast: readonly Entry[]): Promise<string[]> =>
    told(
      ['stable', 'fast'].map((defaultChannel) => ({
        'v4.19': { pa: of({ fast, stable }, { defaultChannel }) },
      })),
      'error',
    );
  expect(await merge([{ version: '1.0.0', skips: ['1.1.0'] }])).toEqual([]);
  expect(await merge(chain('1.0.0', '1.0.5'))).toEqual(['error graph/default-channel-changed']);
});
