/** That the laws are about every class of harm, and that docs/foresight.md lists those that are only warned about. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FIRST_CRD } from './custom-resources.ts';
import { graphFindings } from './graph-errors.ts';
import { HARMS, type Harm, worseOff } from './oracle.ts';
import type { Package, State } from './repository-state.ts';
import { chain, packageOf } from './states.ts';
import { statesOf, story } from './story.ts';

const findingsOf = graphFindings();

/** Classes that are only warned about, with their rules. */
const WARNED = Object.entries(HARMS).filter(([, rule]) => rule !== undefined) as [Harm, string][];

test('docs/foresight.md lists the classes that are only warned about', () => {
  const page = readFileSync('docs/foresight.md', 'utf8');
  const table = page.slice(
    page.indexOf('## Errors and warnings'),
    page.indexOf('## Installs that clusters refuse'),
  );
  const rows = [...table.matchAll(/^\| ([^|]+) \| [^|]+ \| ([a-z0-9-]+) \|/gm)].map(([, name, rule]) => [
    name,
    `graph/${rule}`,
  ]);
  expect(rows.sort()).toEqual(WARNED.sort());
});

test('every class of harm occurs in the sample', () => {
  const missing = new Set(Object.keys(HARMS));
  for (const one of fc.sample(story, { numRuns: 120, seed: 2 })) {
    if (missing.size === 0) break;
    const states = statesOf(one);
    for (const { harm } of worseOff(states.slice(0, -1), states.at(-1) ?? {})) missing.delete(harm);
  }
  expect([...missing]).toEqual([]);
});

/** What OLM v1 never installs: its upgrades are those of OLM v0 alone. */
function underV0Alone(one: Package): Package {
  const versions = Object.keys(one.crds ?? {});
  return { ...one, requires: Object.fromEntries(versions.map((version) => [version, '>=1.0.0'])) };
}

const [ONE, TWO] = [packageOf({ stable: chain('1.0.0') }), packageOf({ stable: chain('1.0.0', '1.1.0') })];
const WITH_CRD = { '1.0.0': FIRST_CRD };
const CRD_ONE = underV0Alone(packageOf({ stable: chain('1.0.0') }, { crds: WITH_CRD }));

function twoWithCrd(crds: Package['crds']): Package {
  const two = packageOf({ stable: chain('1.0.0', '1.1.0') }, { crds: { ...WITH_CRD, ...crds } });
  return { ...two, requires: { '1.0.0': '>=1.0.0', '1.1.0': '>=1.0.0' } };
}

/** A merge with each class, and nothing worse. */
const MERGES: Readonly<Partial<Record<Harm, readonly [State, State]>>> = {
  'catalog renamed': [{ 'v4.19': { pa: TWO } }, { 'v4.20': { pa: TWO } }],
  'catalog ended': [{ 'v4.19': { pa: TWO }, 'v4.20': { pa: TWO } }, { 'v4.20': { pa: TWO } }],
  'not in the new catalog': [
    { 'v4.19': { pa: TWO, pb: ONE } },
    { 'v4.19': { pa: TWO, pb: ONE }, 'v4.20': { pb: ONE } },
  ],
  'channel not brought': [
    { 'v4.19': { pa: packageOf({ stable: chain('1.0.0'), fast: chain('1.0.0') }) } },
    { 'v4.19': { pa: packageOf({ stable: chain('1.0.0'), fast: chain('1.0.0') }) }, 'v4.20': { pa: ONE } },
  ],
  'objects at risk': [
    { 'v4.19': { pa: CRD_ONE, pb: ONE } },
    { 'v4.19': { pa: twoWithCrd({ '1.1.0': { ...FIRST_CRD, required: ['size'] } }), pb: ONE } },
  ],
  'CRD without an owner': [
    { 'v4.19': { pa: CRD_ONE, pb: ONE } },
    { 'v4.19': { pa: twoWithCrd({}), pb: ONE } },
  ],
  'held by a neighbor': [
    { 'v4.19': { pa: packageOf({ stable: chain('1.0.0') }, { requires: { '1.0.0': '<1.1.0' } }), pb: ONE } },
    { 'v4.19': { pa: packageOf({ stable: chain('1.0.0') }, { requires: { '1.0.0': '<1.1.0' } }), pb: TWO } },
  ],
  'needs another catalog': [
    { 'v4.19': {} },
    { 'v4.19': { pb: packageOf({ stable: chain('1.0.0', '1.1.0') }, { requires: { '1.1.0': '>=2.0.0' } }) } },
  ],
  'pin lost': [
    { 'v4.19': { pa: packageOf({ stable: chain('1.0.0', '1.1.0', '1.2.0') }) } },
    {
      'v4.19': {
        pa: packageOf({
          stable: [{ version: '1.1.0', skips: ['1.0.0'] }, ...chain('1.1.0', '1.2.0').slice(1)],
        }),
      },
    },
  ],
};

test.for(WARNED)('a merge with the class "%s" has a warning of %s, and no error', async ([harm, rule]) => {
  const [before = {}, after = {}] = MERGES[harm] ?? [];
  expect([...new Set(worseOff([before], after).map((one) => one.harm))]).toEqual([harm]);
  const findings = await findingsOf([before, after]);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(findings.filter(({ severity }) => severity === 'warning').map((one) => one.rule)).toContain(rule);
  const unchanged = await findingsOf([before, before]);
  expect(unchanged.map((one) => one.rule)).not.toContain(rule);
});

test('who was stranded before is not held by a neighbor that its new upgrade path does not suit', () => {
  const pa = packageOf({ stable: chain('1.0.0') }, { requires: { '1.0.0': '<1.2.0' } });
  const withoutSkip = packageOf({ stable: [{ version: '1.0.0' }, { version: '1.2.0', replaces: '1.0.0' }] });
  const withSkip = packageOf({
    stable: [
      { version: '1.1.0' },
      { version: '1.0.0' },
      { version: '1.2.0', replaces: '1.0.0', skips: ['1.1.0'] },
    ],
  });
  const states = [TWO, withoutSkip].map((pb) => ({ 'v4.19': { pa, pb } }));
  expect(worseOff(states, { 'v4.19': { pa, pb: withSkip } })).toEqual([]);
});
