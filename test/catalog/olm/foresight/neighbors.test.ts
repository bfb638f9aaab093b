import { expect, test } from 'vitest';
import { nextHindrances } from '../../../../catalog/olm/foresight/neighbors.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { catalogFrom } from '../universe.ts';

const needs = (versionRange: string) => [
  { type: 'olm.package.required', value: { packageName: 'p', versionRange } },
];

/** The neighbors that keep `p` from its upgrade from 1.0.0, by what they require. */
async function hindering(packages: Parameters<typeof catalogFrom>[0]): Promise<string[][]> {
  const { foresight } = await worldOf({ name: 'cat', catalog: await catalogFrom(packages) });
  const installed = { name: 'p.v1.0.0', version: parseVersion('1.0.0') };
  const found = nextHindrances(foresight, { package: 'p', channel: 'a' }, installed);
  return found.map((one) => one.installed.map(({ name }) => name));
}

test('neighbors with the same requirement and the same end may hinder, or go out of the way', async () => {
  const p = {
    versions: ['1.0.0', '1.1.0', '1.2.0'],
    channels: {
      a: [
        { name: 'p.v1.0.0' },
        { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
        { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
      ],
    },
  };
  // From 1.0.0, `q` goes to 1.2.0 by a version that does not go with the next one of `p`; from 1.0.5 at once.
  const q = {
    versions: ['1.0.0', '1.0.5', '1.1.0', '1.2.0'],
    channels: {
      a: [
        { name: 'q.v1.0.0' },
        { name: 'q.v1.0.5' },
        { name: 'q.v1.1.0', replaces: 'q.v1.0.0' },
        { name: 'q.v1.2.0', replaces: 'q.v1.1.0', skips: ['q.v1.0.5'] },
      ],
    },
    properties: { '1.0.0': needs('<1.1.0'), '1.0.5': needs('<1.1.0'), '1.1.0': needs('>=1.2.0') },
  };
  expect(await hindering({ p, q })).toEqual([['q.v1.0.0']]);
});

test('a neighbor with which an operator is upgraded, and only then leaves its path, does not hinder', async () => {
  const p = {
    versions: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'],
    channels: {
      a: [
        { name: 'p.v1.0.0' },
        { name: 'p.v1.1.0', replaces: 'p.v1.0.0' },
        { name: 'p.v1.2.0', replaces: 'p.v1.1.0' },
        { name: 'p.v2.0.0', replaces: 'p.v1.2.0', skipRange: '>=1.1.0 <2.0.0' },
      ],
    },
  };
  // Beside 1.1.0 of `q`, which comes with 1.1.0 of `p`, that goes to 1.2.0 instead of 2.0.0.
  const q = {
    versions: ['1.0.0', '1.1.0'],
    channels: { a: [{ name: 'q.v1.0.0' }, { name: 'q.v1.1.0', replaces: 'q.v1.0.0' }] },
    properties: { '1.0.0': needs('<1.1.0'), '1.1.0': needs('<2.0.0') },
  };
  expect(await hindering({ p, q })).toEqual([]);
});
