import { expect, test } from 'vitest';
import { nextHindrances } from '../../../../catalog/olm/foresight/neighbors.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';
import { catalogFrom } from '../universe.ts';

test('neighbors with the same requirement and the same end may hinder, or go out of the way', async () => {
  const needs = (versionRange: string) => [
    { type: 'olm.package.required', value: { packageName: 'p', versionRange } },
  ];
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
  const { foresight } = await worldOf({ name: 'cat', catalog: await catalogFrom({ p, q }) });
  const installed = { name: 'p.v1.0.0', version: parseVersion('1.0.0') };
  const found = nextHindrances(foresight, { package: 'p', channel: 'a' }, installed);
  expect(found.map((one) => one.installed.map(({ name }) => name))).toEqual([['q.v1.0.0']]);
});
